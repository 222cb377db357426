// The charts of the last minutes. The page itself remembers what it has read: a chart begins when the page is opened.

const lengthOfHistory = 5 * 60_000;
const [width, height] = [300, 100];

/** Values of the last minutes, by name. */
export class History {
  #samples = new Map();

  /** @param values `{ waiting, running }` */
  add(name, time, values) {
    const samples = this.#samples.get(name) ?? [];
    samples.push({ time, ...values });
    this.#samples.set(name, samples);
  }

  /** Forgets what is too old, also of keys that are shown no more. */
  forget(now) {
    for (const [name, samples] of this.#samples) {
      const kept = samples.filter(({ time }) => time >= now - lengthOfHistory);
      if (kept.length > 0) {
        this.#samples.set(name, kept);
      } else {
        this.#samples.delete(name);
      }
    }
  }

  of(name) {
    return this.#samples.get(name) ?? [];
  }
}

/** Returns an SVG and what draws samples in it, which returns the largest values. */
export function chart(title) {
  const svg = svgElement("svg", { role: "img", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" });
  const lines = ["waiting", "running"].map((name) => ({ name, line: svgElement("polyline", { class: name }) }));
  svg.append(...lines.map(({ line }) => line));
  return {
    svg,
    draw(samples, now) {
      const [waiting, running] = ["waiting", "running"].map((name) => samples.map((sample) => sample[name]));
      const most = { waiting: Math.max(0, ...waiting), running: Math.max(0, ...running) };
      const top = Math.max(1, most.waiting, most.running);
      const x = (time) => (width * (time - now + lengthOfHistory)) / lengthOfHistory;
      const y = (value) => height - 2 - ((height - 4) * value) / top;
      for (const { name, line } of lines) {
        const points = samples.map((sample) => `${x(sample.time).toFixed(1)},${y(sample[name]).toFixed(1)}`);
        line.setAttribute("points", points.join(" "));
      }
      svg.setAttribute(
        "aria-label",
        `${title}, last 5 minutes: ${waiting.at(-1) ?? 0} waiting, at most ${most.waiting}; ` +
          `${running.at(-1) ?? 0} running, at most ${most.running}`,
      );
      return most;
    },
  };
}

function svgElement(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([attribute, value]) => made.setAttribute(attribute, value));
  return made;
}
