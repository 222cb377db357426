// Loaded into every process of a measured command. In the provider host, which its engine may kill, it keeps telling
// the most memory that the process has held (kilobytes).
const { renameSync, writeFileSync } = require("node:fs");

const file = process.env.BENCH_HOST_MEMORY;
if (file && process.argv[1]?.includes("dynamic-provider")) {
  let told = 0;
  const tell = () => {
    const { maxRSS } = process.resourceUsage();
    if (maxRSS === told) return;
    told = maxRSS;
    // Whole at any moment: the process may be killed while it writes.
    writeFileSync(`${file}.new`, String(maxRSS));
    renameSync(`${file}.new`, file);
  };
  setInterval(tell, 200).unref();
}
