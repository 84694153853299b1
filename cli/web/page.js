"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");

// element("p", {class: "note"}, "text", other elements ...)
function element(name, attributes = {}, ...children) {
  const svg = ["svg", "rect", "circle", "line", "text", "g", "title"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
                   : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const child of children.flat()) made.append(child);
  return made;
}

function at(path) {
  return path.split(".").reduce((value, key) => value?.[key], data);
}

// A number of the data as text, marked with where it stands there and what it was multiplied by.
function figure(path, {scale = 1, digits = 4, unit = ""} = {}) {
  const value = at(path);
  const scaled = value * scale;
  const text = Number.isInteger(scaled) ? String(scaled)
    : Math.abs(scaled) < 1e-3 ? scaled.toExponential(digits - 1) : String(Number(scaled.toPrecision(digits)));
  return element("span", {"data-figure": path, "data-scale": scale}, text + (unit ? " " + unit : ""));
}

function card(label, ...value) {
  return element("div", {class: "card"}, element("b", {}, ...value), element("span", {}, label));
}

function section(title, note, ...children) {
  main.append(element("h2", {}, title), ...(note ? [element("p", {class: "note"}, note)] : []), ...children);
}

// Bars of [label, value, figure]: as long as their value is of the largest.
function bars(rows) {
  const most = Math.max(...rows.map(row => row[1]), 1e-30);
  return rows.map(([label, value, shown]) => element("div", {class: "bar"}, element("span", {}, label),
    element("div", {}, element("i", {style: `width:${100 * value / most}%`})), element("span", {}, shown)));
}
