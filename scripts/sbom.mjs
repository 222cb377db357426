// npm run sbom: writes the software bill of materials of the shipped packages (CycloneDX) to sbom.json.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exitUnlessZero, root } from "./lib.mjs";

const { status, stdout, stderr } = spawnSync("npm", ["sbom", "--sbom-format=cyclonedx", "--omit=dev"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
  shell: true,
});
if (status !== 0) process.stderr.write(stderr);
exitUnlessZero(status ?? 1, "npm sbom");
writeFileSync(join(root, "sbom.json"), stdout);
console.log(`sbom.json: ${JSON.parse(stdout).components.length} components`);
