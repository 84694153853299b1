const micro = {scale: 1e6, unit: "µs"};


function show(sweep, at) {
  const path = rest => `sweeps.${at}.${rest}`;
  const index = new Map(sweep.candidates.map((candidate, n) => [candidate, n]));
  const of = candidate => path(`candidates.${index.get(candidate)}`);
  const timed = sweep.candidates.filter(candidate => candidate.seconds > 0);
  const first = sweep.candidates[0];
  const winner = sweep.winner === null ? null : sweep.candidates[sweep.winner];
  const problem = Object.entries(sweep.problem).map(([key, value]) => key === "operation" ? value : `${key} ${value}`).join(", ");

  main.append(element("h1", {}, sweep.problem.operation), element("p", {class: "note"}, `${problem}; on ${sweep.device.name}`));
  const cards = [];
  if (winner) cards.push(card(`winner: ${winner.config}`, figure(of(winner) + ".seconds", micro)));
  if (first && first.seconds > 0) cards.push(card(`default: ${first.config}`, figure(path("candidates.0.seconds"), micro)));
  if (winner && first.seconds > 0) cards.push(card("of the default's time", (winner.seconds / first.seconds).toFixed(3)));
  if (sweep.roofline_seconds > 0) cards.push(card("least that the device allows", figure(path("roofline_seconds"), micro)));
  cards.push(card("noise of the medians", figure(path("noise"), {scale: 100, unit: "%"})));
  if (timed.length > 2) cards.push(card("rank correlation, predicted and measured", figure(path("rank_correlation"), {})));
  for (const outcome of ["measured", "dropped", "compiled", "failed", "pruned"]) {
    const count = sweep.candidates.filter(candidate => candidate.outcome === outcome).length;
    if (count) cards.push(card(outcome, String(count)));
  }
  cards.push(card("the sweep took", figure(path("seconds"), {unit: "s"})));
  main.append(element("div", {class: "cards"}, cards));
  if (sweep.interrupted || sweep.out_of_budget) {
    main.append(element("p", {class: "note"}, sweep.interrupted ? "It was interrupted: what is here was found before." : "It ran out of time before all was tried."));
  }

  if (winner && first.seconds > 0) {
    const rows = [["winner", winner.seconds, figure(of(winner) + ".seconds", micro)], ["default", first.seconds, figure(path("candidates.0.seconds"), micro)]];
    if (sweep.roofline_seconds > 0) rows.push(["roofline", sweep.roofline_seconds, figure(path("roofline_seconds"), micro)]);
    section("Winner, default and roofline", `The roofline is bound by ${sweep.roofline || "nothing known"}; the work of making noise comes on top.`, ...bars(rows));
  }
  if (timed.length) {
    heatMap(timed, of);
    depths(timed, of);
    scatter(timed, of, winner);
  }
  table(sweep, of, winner);
}

const tile = config => {
  const found = config.match(/_o(\d+)b(\d+)k(\d+)_s(\d+)_w(\d+)_r(\d+)/);
  return found ? {out: +found[1], batch: +found[2], deep: +found[3], stages: +found[4], warps: +found[5]} : null;
};

function heatMap(timed, of) {
  const best = new Map();
  for (const candidate of timed) {
    const shape = tile(candidate.config);
    if (!shape) continue;
    const key = `${shape.out}/${shape.batch}`;
    if (!best.has(key) || best.get(key).seconds > candidate.seconds) best.set(key, candidate);
  }
  const outs = [...new Set([...best.keys()].map(key => +key.split("/")[0]))].sort((a, b) => a - b);
  const batches = [...new Set([...best.keys()].map(key => +key.split("/")[1]))].sort((a, b) => a - b);
  const times = [...best.values()].map(candidate => candidate.seconds);
  const low = Math.min(...times), high = Math.max(...times);
  const rows = batches.map(batch => element("tr", {}, element("th", {scope: "row"}, `b${batch}`), outs.map(out => {
    const candidate = best.get(`${out}/${batch}`);
    if (!candidate) return element("td", {}, "");
    const share = high > low ? (candidate.seconds - low) / (high - low) : 0;
    return element("td", {title: candidate.config, style: `background:color-mix(in srgb, var(--heat-0) ${Math.round(60 * (1 - share))}%, var(--heat-1))`},
      figure(of(candidate) + ".seconds", micro));
  })));
  section("Tiles against time", "Rows of a tile's batch, columns of its outputs: the best time of all depths and warps. The stronger the colour, the faster.",
    element("div", {class: "scroll"}, element("table", {}, element("thead", {}, element("tr", {}, element("th", {}, ""), outs.map(out => element("th", {scope: "col"}, `o${out}`)))), element("tbody", {}, rows))));
}

function depths(timed, of) {
  const best = new Map();
  for (const candidate of timed) {
    const shape = tile(candidate.config);
    if (shape && (!best.has(shape.stages) || best.get(shape.stages).seconds > candidate.seconds)) best.set(shape.stages, candidate);
  }
  const rows = [...best.keys()].sort((a, b) => a - b).map(stages => {
    const candidate = best.get(stages);
    return [`${stages} stage${stages === 1 ? "" : "s"}`, candidate.seconds, figure(of(candidate) + ".seconds", micro)];
  });
  section("Depth against time", "The best time of each pipeline depth, over all tiles.", ...bars(rows));
}

function scatter(timed, of, winner) {
  const size = 320, margin = 44;
  const all = timed.flatMap(candidate => [candidate.seconds, candidate.predicted_seconds]);
  const low = Math.log(Math.min(...all)) - .1, high = Math.log(Math.max(...all)) + .1;
  const place = seconds => margin + (Math.log(seconds) - low) / (high - low) * (size - 2 * margin);
  const ticks = [];
  for (let n = 0; n <= 3; ++n) {
    const seconds = Math.exp(low + .1 + n / 3 * (high - low - .2));
    const text = String(Number((seconds * 1e6).toPrecision(3)));
    ticks.push(element("text", {class: "soft", x: place(seconds), y: size - margin + 16, "text-anchor": "middle"}, text),
      element("text", {class: "soft", x: margin - 6, y: size - place(seconds) + 4, "text-anchor": "end"}, text));
  }
  const dots = timed.map(candidate => element("circle", {class: candidate === winner ? "dot best" : "dot", r: candidate === winner ? 6 : 4, tabindex: 0,
    cx: place(candidate.predicted_seconds), cy: size - place(candidate.seconds)},
    element("title", {}, `${candidate.config}: predicted ${(candidate.predicted_seconds * 1e6).toPrecision(4)} µs, measured ${(candidate.seconds * 1e6).toPrecision(4)} µs`)));
  section("Predicted against measured", "Microseconds, logarithmic. On the dashed line a prediction is right.",
    element("svg", {viewBox: `0 0 ${size} ${size}`, width: size, role: "img", "aria-label": "predicted against measured times"},
      element("line", {class: "axis", x1: margin, y1: size - margin, x2: size - margin, y2: size - margin}),
      element("line", {class: "axis", x1: margin, y1: margin, x2: margin, y2: size - margin}),
      element("line", {class: "guide", x1: margin, y1: size - margin, x2: size - margin, y2: margin}),
      ticks, dots,
      element("text", {x: size / 2, y: size - 8, "text-anchor": "middle"}, "predicted"),
      element("text", {x: 4, y: margin - 12}, "measured")));
}

const columns = [
  ["config", "text", candidate => candidate.config], ["outcome", "text", candidate => candidate.outcome],
  ["µs", "seconds", candidate => candidate.seconds || Infinity], ["predicted µs", "predicted_seconds", candidate => candidate.predicted_seconds],
  ["registers", "registers", candidate => candidate.registers], ["spilled", "spill_store_bytes", candidate => candidate.spill_store_bytes],
  ["shared", "shared_bytes", candidate => candidate.shared_bytes], ["occupancy", "occupancy", candidate => candidate.occupancy],
  ["error", "error", candidate => candidate.error], ["why", "text", candidate => candidate.reason],
];

function table(sweep, of, winner) {
  const body = element("tbody");
  const cell = (candidate, [, kind, value]) => {
    if (kind === "text") return element("td", {class: "code"}, value(candidate));
    if (!candidate[kind] && candidate.outcome === "pruned" && kind !== "predicted_seconds") return element("td", {}, "");
    const options = kind.endsWith("seconds") ? {scale: 1e6} : {};
    return element("td", {}, candidate[kind] || kind !== "seconds" ? figure(`${of(candidate)}.${kind}`, options) : "");
  };
  const rows = sweep.candidates.map(candidate => [candidate, element("tr", candidate === winner ? {class: "winner"} : {}, columns.map(column => cell(candidate, column)))]);
  const heads = columns.map(([label, kind, value]) => {
    const head = element("th", {class: kind === "text" ? "text" : "", scope: "col"}, element("button", {type: "button"}, label));
    head.firstChild.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      rows.sort(([a], [b]) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (up ? 1 : -1));
      body.replaceChildren(...rows.map(row => row[1]));
    });
    return head;
  });
  body.append(...rows.map(row => row[1]));
  section("All candidates", "A heading sorts.", element("div", {class: "scroll"}, element("table", {class: "all"}, element("thead", {}, element("tr", {}, heads)), body)));
  heads[2].firstChild.click();
}

data.sweeps.forEach(show);
if (!data.sweeps.length) main.append(element("p", {}, "No sweep was run."));
