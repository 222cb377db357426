import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { atMost, type Check, median } from "./support/rows";

const processes = 9;
const program = `
const now = () => performance.now();
const began = now();
require("@pulumi/pulumi");
const pulumi = now();
require("pulumi-rekey");
const sdk = now();
require("pulumi-rekey/provider");
console.log(JSON.stringify([(sdk - pulumi) / (pulumi - began), (now() - sdk) / (pulumi - began)]));`;

/** The additional time to import the package and the provider entry, relative to Pulumi's SDK. */
export function benchImports(): Check[] {
  const shares = Array.from({ length: processes }, () => {
    const { stdout } = spawnSync(process.execPath, ["-e", program], {
      cwd: resolve(__dirname, ".."),
      encoding: "utf8",
    });
    return JSON.parse(stdout) as [number, number];
  });
  const share = (index: 0 | 1): number => median(shares.map((each) => each[index])) ?? NaN;
  return [
    atMost("importing pulumi-rekey, as a share of importing @pulumi/pulumi", share(0), 0.05),
    atMost("loading pulumi-rekey/provider, as a share of importing @pulumi/pulumi", share(1), 0.3),
  ];
}
