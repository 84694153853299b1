main.append(element("h1", {}, data.kernel.entry),
  element("p", {class: "note"}, `${data.kernel.operation}, ${data.kernel.config} for ${data.kernel.arch}`));

const cards = [
  card("registers a thread", figure("resources.registers")),
  card("bytes spilled", figure("resources.spill_store_bytes")),
  card("bytes of shared memory a block", figure("resources.shared_bytes")),
  card("blocks a multiprocessor", figure("resources.blocks_per_sm")),
  card("of its warps resident", figure("resources.occupancy", {scale: 100, unit: "%"})),
];
if (data.noise.instructions_per_value !== null) {
  cards.push(card("instructions a noise value", figure("noise.instructions_per_value")));
}
section("What it takes", data.noise.note, element("div", {class: "cards"}, cards));

if (data.mix) {
  section("Instructions", `${data.mix.total} in the code of the kernel, each counted once.`,
    ...bars(["tensor", "integer", "fp", "memory", "other"].map(kind => [kind, data.mix[kind], figure("mix." + kind)])));
}

const pipeline = data.pipeline;
if (pipeline.stages > 1 || pipeline.stage_bytes > 0) {
  const width = 60, gap = 8;
  const boxes = [];
  for (let stage = 0; stage < pipeline.stages; ++stage) {
    const used = stage === 0;
    boxes.push(element("g", {}, element("title", {}, used ? "in use" : "on its way or free"),
      element("rect", {x: stage * (width + gap), y: 0, width, height: 34, rx: 4,
        fill: used ? "var(--accent)" : "var(--raised)", stroke: "var(--line)"}),
      element("text", {x: stage * (width + gap) + width / 2, y: 22, "text-anchor": "middle",
        style: used ? "fill:var(--paper)" : ""}, used ? "in use" : `copy ${stage}`)));
  }
  section("Pipeline", pipeline.explain, element("svg", {viewBox: `0 0 ${pipeline.stages * (width + gap)} 36`,
    width: pipeline.stages * (width + gap), role: "img", "aria-label": `${pipeline.stages} stages`}, boxes));
} else {
  section("Pipeline", pipeline.explain);
}

function pane(title, lines) {
  const made = element("div", {class: "pane"}, element("h3", {}, title), element("pre", {},
    lines.map(({text, line}) => element("span", line ? {"data-line": line} : {}, text || " "))));
  return made;
}

const panes = [pane("source", data.source.map((text, n) => ({text, line: n + 1}))), pane("PTX", data.ptx)];
if (data.sass.length) panes.push(pane("SASS", data.sass));
section("Code", "Point at a line to see what became of it, or tap it." + (data.sass_note ? " " + data.sass_note : ""),
  element("div", {class: "panes"}, panes));

function light(line, from) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (!line) return;
  for (const one of panes) {
    const same = one.querySelectorAll(`[data-line="${line}"]`);
    for (const part of same) part.classList.add("lit");
    if (one !== from && same.length) one.scrollTop = same[0].offsetTop - one.clientHeight / 3;
  }
}
for (const one of panes) {
  for (const kind of ["mouseover", "click"]) {
    one.addEventListener(kind, event => {
      const span = event.target.closest("span[data-line]");
      if (span) light(span.dataset.line, one);
    });
  }
}
