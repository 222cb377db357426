import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";

const program = `
const server = require("node:net").createServer();
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  require("node:fs").writeSync(1, String(server.address().port) + "\\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

/** A port on which connecting never completes: its process never accepts a connection, and its backlog is full. */
export async function stuckListener(): Promise<{ port: number; close: () => Promise<void> }> {
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  const filling = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  await new Promise((resolve) => setTimeout(resolve, 300));
  return {
    port,
    close: async () => {
      for (const socket of filling) socket.destroy();
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
