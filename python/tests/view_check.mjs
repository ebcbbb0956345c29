// Shows a motion in a page that is none: node view_check.mjs VIEW.js MOTION.json prints what was drawn at the start, in the middle, and after a turn.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [script, data] = process.argv.slice(2);
const motion = JSON.parse(readFileSync(data, "utf8"));
let drawn;
const numbers = (name) => (...values) => {
  const wrong = values.filter((value) => typeof value === "number" && !Number.isFinite(value));
  if (wrong.length) throw new Error(`${name}(${values})`);
  drawn[name] = (drawn[name] || 0) + 1;
};
const pen = Object.fromEntries(["beginPath", "moveTo", "lineTo", "closePath", "stroke", "fill", "arc"].map((name) => [name, numbers(name)]));
const canvas = { clientWidth: 640, clientHeight: 480, getContext: () => pen, addEventListener() {}, setPointerCapture() {} };
const parts = { canvas, button: {}, input: {}, span: {} };
const el = { isConnected: true, querySelector: (tag) => parts[tag] };
globalThis.window = { devicePixelRatio: 1 };
globalThis.ResizeObserver = class { observe() {} };
globalThis.requestAnimationFrame = () => {};

drawn = {};
const view = await import(pathToFileURL(script));
view.default.render({ model: { get: () => motion, on() {} }, el });
const looks = [[drawn, parts.span.textContent]];
const look = (action) => { drawn = {}; action(); looks.push([drawn, parts.span.textContent]); };
look(() => { parts.input.value = String(Math.floor(motion.times.length / 2)); parts.input.oninput(); });
look(() => canvas.onpointermove({ buttons: 1, movementX: 30, movementY: 10 }));
look(() => { parts.button.onclick(); parts.button.onclick(); parts.input.oninput(); });
console.log(JSON.stringify(looks));
