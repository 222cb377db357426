// A terminal session as an animated SVG. With reduced motion, it shows the end.

const [columns, rows] = [108, 28];
const [characterWidth, lineHeight, margin] = [8.43, 19, 16];
const [width, height] = [Math.ceil(columns * characterWidth) + 2 * margin, rows * lineHeight + 2 * margin];
/** Minimum and maximum delay between lines, and how long the end is shown. */
const [minDelayMs, maxDelayMs, endMs] = [90, 900, 6_000];

/** @param lines `{ text, at }`, with `at` in milliseconds and text without colours */
export function terminalSvg(title, lines) {
  const texts = lines.map(({ text }, index) => {
    const weight = /^(\$|\d\.) /.test(text) ? ' class="step"' : "";
    return `<text y="${(index + 1) * lineHeight - 5}"${weight}>${escaped(text)}</text>`;
  });
  const { frames, length } = keyframes(lines);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #e6e8ea; white-space: pre; }
.step { fill: #6cb6ff; font-weight: bold; }
#session { transform: ${offset(lines.length)}; }
@media (prefers-reduced-motion: no-preference) { #session { animation: session ${seconds(length)} step-end infinite; } }
@keyframes session {
${frames.join("\n")}
}
</style>
<clipPath id="screen"><rect width="${width - 2 * margin}" height="${rows * lineHeight}"/></clipPath>
<rect width="100%" height="100%" rx="8" fill="#14171a"/>
<g transform="translate(${margin} ${margin})" clip-path="url(#screen)"><g id="session" xml:space="preserve">
${texts.join("\n")}
</g></g>
</svg>
`;
}

/** The lines move up one by one. Lines that are not shown yet are below the screen. */
function keyframes(lines) {
  let time = 0;
  const moves = lines.map(({ at }, index) => {
    time += index === 0 ? 0 : Math.min(Math.max(at - lines[index - 1].at, minDelayMs), maxDelayMs);
    return { time, shown: index + 1 };
  });
  const length = time + endMs;
  const frames = moves.map(
    ({ time: at, shown }) => `${((100 * at) / length).toFixed(2)}% { transform: ${offset(shown)}; }`,
  );
  return { frames, length };
}

/** The vertical offset with the given number of lines, whose last one is at the bottom of the screen. */
function offset(shown) {
  return `translateY(${(rows - shown) * lineHeight}px)`;
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)}s`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
