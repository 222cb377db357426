/** The points of one line. */
export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const [width, height, left, right, top, bottom] = [720, 380, 64, 190, 48, 48];
const colours = ["#d1495b", "#3a86c8", "#2a9d5c", "#b8860b", "#8a63c9", "#6c757d"];

/** A line chart with logarithmic axes, as SVG for light and dark pages. */
export function lineChart(title: string, xTitle: string, yTitle: string, given: readonly Series[]): string {
  const series = given.filter(({ points }) => points.length > 0);
  const all = series.flatMap(({ points }) => points);
  const x = logScale(
    all.map((point) => point.x),
    left,
    width - right,
  );
  const y = logScale(
    all.map((point) => point.y),
    height - bottom,
    top,
  );
  const parts = [
    text(left, 22, title, "start", "title"),
    text((left + width - right) / 2, height - 8, xTitle, "middle"),
    text(left, top - 10, yTitle, "end"),
    ...x.ticks.map(
      (at) =>
        line(x.place(at), top, x.place(at), height - bottom) +
        text(x.place(at), height - bottom + 18, short(at), "middle"),
    ),
    ...y.ticks.map(
      (at) => line(left, y.place(at), width - right, y.place(at)) + text(left - 8, y.place(at) + 4, short(at), "end"),
    ),
    ...series.map(({ name, points }, index) => {
      const colour = colours[index % colours.length] ?? "";
      const places = points.map((point) => [x.place(point.x), y.place(point.y)] as const);
      const path = places.map((place) => place.map((one) => one.toFixed(1)).join(",")).join(" ");
      const dots = places.map(
        ([cx, cy]) => `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="4" fill="${colour}"/>`,
      );
      const legend = top + 12 + index * 22;
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...dots,
        `<circle cx="${width - right + 20}" cy="${legend - 4}" r="5" fill="${colour}"/>`,
        text(width - right + 32, legend, name, "start"),
      ].join("");
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-size:16px;font-weight:600}line{stroke:#24292f;stroke-opacity:.18}@media(prefers-color-scheme:dark){text{fill:#e6edf3}line{stroke:#e6edf3}}</style>
${parts.join("\n")}
</svg>
`;
}

/** The powers of ten around the values, and a function from a value to its position. */
function logScale(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return { ticks, place: (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from) };
}

function text(x: number, y: number, words: string, anchor: string, kind = ""): string {
  const named = kind && ` class="${kind}"`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${named}>${escaped(words)}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map((one) => one.toFixed(1));
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}"/>`;
}

function short(value: number): string {
  return value >= 1 ? value.toLocaleString("en") : String(Number(value.toPrecision(2)));
}

function escaped(words: string): string {
  return words.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
