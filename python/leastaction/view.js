// A motion in space: it plays, can be scrubbed, turned (drag), moved nearer (wheel). Made for notebooks: `render` is that of an anywidget.

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** Shows a motion: {times, places: frames × places × 3, parts, title}. */
function show(el, motion) {
  const { times, places, parts, flat } = motion;
  const count = times.length;
  el.innerHTML = `<div style="font: 13px sans-serif; max-width: 640px">
    <canvas style="width: 100%; aspect-ratio: 4/3; touch-action: none; background: #fff; border: 1px solid #ddd"></canvas>
    <div style="display: flex; gap: 8px; align-items: center">
      <button aria-label="play" style="width: 3em">▶</button>
      <input aria-label="time" type="range" min="0" max="${count - 1}" value="0" style="flex: 1">
      <span style="width: 9em; text-align: right"></span>
    </div></div>`;
  const [canvas, button, slider, label] = ["canvas", "button", "input", "span"].map((tag) => el.querySelector(tag));
  const pen = canvas.getContext("2d");
  const view = { turn: flat ? 0 : -0.6, tilt: flat ? 0 : 0.35, zoom: 1 };
  const state = { frame: 0, playing: false, begun: 0 };

  // The middle and the size of all that is seen, at any time.
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const include = (p) => p.forEach((x, i) => { if (Number.isFinite(x)) { low[i] = Math.min(low[i], x); high[i] = Math.max(high[i], x); } });
  places.forEach((frame) => frame.forEach(include));
  parts.forEach((part) => part.points && part.points.forEach(include));
  parts.forEach((part) => (part.ends || []).forEach((end) => Array.isArray(end) && include(end)));
  // Where a point of a body is, of which the middle and the images of the axes are known.
  const placed = (place, p) => (place ? place[0].map((x, i) => x + p[0] * place[1][i] + p[1] * place[2][i] + p[2] * place[3][i]) : [NaN, NaN, NaN]);
  parts.forEach((part) => part.kind === "body" && part.places.forEach((place) =>
    part.faces.flat().concat(part.lines.flat()).forEach((p) => include(placed(place, p)))));
  const middle = low.map((x, i) => (x + high[i]) / 2);
  const size = Math.max(1e-12, Math.hypot(...high.map((x, i) => x - low[i])));

  // What is flat lies in the plane of x and y; in space z points up.
  const project = (p) => {
    const [x, y, z] = p.map((value, i) => (value - middle[i]) / size);
    const [c, s, ct, st] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
    const across = c * x - s * y, along = s * x + c * y;
    const scale = 0.95 * view.zoom * Math.min(canvas.width, canvas.height);
    const up = flat ? along * ct + z * st : z * ct + along * st;
    const depth = flat ? z * ct - along * st : -along * ct + z * st;
    return [canvas.width / 2 + scale * across, canvas.height / 2 - scale * up, depth];
  };

  const line = (points, colour, width) => {
    pen.beginPath();
    let begun = false;
    for (const point of points) {
      if (!point.every(Number.isFinite)) { begun = false; continue; }
      const [x, y] = project(point);
      begun ? pen.lineTo(x, y) : pen.moveTo(x, y);
      begun = true;
    }
    pen.strokeStyle = colour; pen.lineWidth = width; pen.lineJoin = "round"; pen.stroke();
  };

  const spring = ([a, b]) => {
    const [p, q] = [project(a), project(b)];
    const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
    const long = Math.hypot(dx, dy) || 1, wide = 0.02 * Math.min(canvas.width, canvas.height);
    pen.beginPath(); pen.moveTo(p[0], p[1]);
    for (let k = 0; k < 12; k++) {
      const part = 0.12 + 0.76 * (k + 0.5) / 12, side = k % 2 ? wide : -wide;
      pen.lineTo(p[0] + part * dx - side * dy / long, p[1] + part * dy + side * dx / long);
    }
    pen.lineTo(q[0], q[1]); pen.strokeStyle = "#777"; pen.lineWidth = 1.5; pen.stroke();
  };

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, canvas.clientWidth * ratio); canvas.height = Math.max(1, canvas.clientHeight * ratio);
    const frame = places[state.frame];
    const at = (end) => (Array.isArray(end) ? end : frame[end]);
    for (const part of parts) if (part.kind === "trail")
      line(places.slice(0, state.frame + 1).map((each) => each[part.ends[0]]), "#9ec5e8", ratio);
    for (const part of parts) if (part.kind === "line") line(part.points, "#999", 1.5 * ratio);
    for (const part of parts) if (part.kind === "mesh") {
      const faces = part.faces.map((face) => face.map((node) => project(frame[part.first + node])));
      faces.sort((a, b) => a[0][2] + a[1][2] + a[2][2] - b[0][2] - b[1][2] - b[2][2]);
      for (const [a, b, c] of faces) {
        // The light comes from behind whoever looks.
        const turned = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        const longest = Math.hypot(b[0] - a[0], b[1] - a[1]) * Math.hypot(c[0] - a[0], c[1] - a[1]) || 1;
        pen.fillStyle = `hsl(205, 45%, ${45 + 35 * clamp(Math.abs(turned) / longest, 0, 1)}%)`;
        pen.strokeStyle = "rgba(40, 70, 100, 0.35)"; pen.lineWidth = 0.5 * ratio;
        pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.lineTo(c[0], c[1]); pen.closePath(); pen.fill(); pen.stroke();
      }
      for (const segment of part.segments) line(segment.map((node) => frame[part.first + node]), "#4a7aa5", 2 * ratio);
    }
    // Of all bodies together, what is far is drawn first.
    const faces = parts.filter((part) => part.kind === "body").flatMap((part) =>
      part.faces.map((face) => face.map((p) => project(placed(part.places[state.frame], p)))));
    faces.sort((a, b) => a[0][2] + a[1][2] + a[2][2] - b[0][2] - b[1][2] - b[2][2]);
    for (const [a, b, c] of faces) {
      const turned = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
      const longest = Math.hypot(b[0] - a[0], b[1] - a[1]) * Math.hypot(c[0] - a[0], c[1] - a[1]) || 1;
      pen.fillStyle = pen.strokeStyle = `hsl(30, 40%, ${50 + 30 * clamp(Math.abs(turned) / longest, 0, 1)}%)`;
      pen.lineWidth = 0.5 * ratio;
      pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.lineTo(c[0], c[1]); pen.closePath(); pen.fill(); pen.stroke();
    }
    for (const part of parts) if (part.kind === "body") for (const each of part.lines)
      line(each.map((p) => placed(part.places[state.frame], p)), part.faces.length ? "rgba(80, 50, 20, 0.6)" : "#555", (part.faces.length ? 1 : 2) * ratio);
    for (const part of parts) {
      if (part.kind === "rod") line(part.ends.map(at), "#555", 2 * ratio);
      if (part.kind === "spring") spring(part.ends.map(at));
    }
    for (const part of parts) if (part.kind === "dot") {
      const place = at(part.ends[0]);
      if (!place.every(Number.isFinite)) continue;
      const [x, y] = project(place);
      pen.beginPath(); pen.arc(x, y, (3 + 6 * Math.sqrt(part.size)) * ratio, 0, 2 * Math.PI);
      pen.fillStyle = "#d1495b"; pen.fill();
    }
    label.textContent = `t = ${times[state.frame].toPrecision(4)}`;
    slider.value = state.frame;
  }

  function tick(now) {
    if (!state.playing || !el.isConnected) return;
    const part = ((now - state.begun) / 1000 / motion.seconds) % 1;
    const t = times[0] + part * (times[count - 1] - times[0]);
    const forward = times[count - 1] >= times[0];
    let frame = times.findIndex((time) => (forward ? time >= t : time <= t));
    state.frame = frame < 0 ? count - 1 : frame;
    draw();
    requestAnimationFrame(tick);
  }

  button.onclick = () => {
    state.playing = !state.playing;
    button.textContent = state.playing ? "❚❚" : "▶";
    state.begun = performance.now() - 1000 * motion.seconds * state.frame / Math.max(1, count);
    requestAnimationFrame(tick);
  };
  slider.oninput = () => { state.frame = Number(slider.value); state.begun = performance.now() - 1000 * motion.seconds * state.frame / count; draw(); };
  canvas.onpointerdown = (event) => canvas.setPointerCapture(event.pointerId);
  canvas.onpointermove = (event) => {
    if (!event.buttons) return;
    view.turn += 0.01 * event.movementX;
    view.tilt = clamp(view.tilt + 0.01 * event.movementY, -1.57, 1.57);
    draw();
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.zoom = clamp(view.zoom * Math.exp(-0.001 * event.deltaY), 0.1, 50);
    draw();
  }, { passive: false });
  new ResizeObserver(draw).observe(canvas);
  draw();
}

export default { render({ model, el }) { show(el, model.get("motion")); model.on("change:motion", () => show(el, model.get("motion"))); } };
export { show };
