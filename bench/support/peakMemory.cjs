// Loaded into every process of a measured command. In the provider host, which its engine may kill, it keeps reporting
// the most memory that the process has held (kilobytes).
const { renameSync, writeFileSync } = require("node:fs");

const file = process.env.BENCH_HOST_MEMORY;
if (file && process.argv[1]?.includes("dynamic-provider")) {
  let reported = 0;
  const report = () => {
    const { maxRSS } = process.resourceUsage();
    if (maxRSS === reported) return;
    reported = maxRSS;
    // Whole at any moment: the process may be killed while it writes.
    writeFileSync(`${file}.new`, String(maxRSS));
    renameSync(`${file}.new`, file);
  };
  setInterval(report, 200).unref();
}
