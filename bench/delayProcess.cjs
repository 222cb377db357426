// A network with a round-trip time, and TLS behind it, in a separate process. Each direction of a connection takes
// half a round trip; its first bytes also wait for the TCP handshake. The platform behind it is on this machine.
const { connect, createServer } = require("node:net");
const tls = require("node:tls");

/** Passes everything on, in order and later. */
function delay(from, to, oneWayMs, firstAt = 0) {
  const passing = [];
  const pass = () => passing.shift()();
  const later = (act) => {
    passing.push(act);
    const milliseconds = Math.max(oneWayMs, firstAt - performance.now());
    if (milliseconds === 0) pass();
    else setTimeout(pass, milliseconds);
  };
  from.on("data", (bytes) => later(() => to.write(bytes)));
  from.on("end", () => later(() => to.end()));
  from.on("error", () => later(() => to.destroy()));
}

process.once("message", ({ port, roundTripMs, certificate }) => {
  const options = { host: "127.0.0.1", noDelay: true };
  const secure = tls.createServer({ ...certificate, noDelay: true }, (client) => {
    const platform = connect({ ...options, port });
    client.on("error", () => platform.destroy());
    platform.on("error", () => client.destroy());
    client.pipe(platform).pipe(client);
  });
  const network = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ ...options, port: secure.address().port, allowHalfOpen: true });
    delay(near, far, roundTripMs / 2, performance.now() + 1.5 * roundTripMs);
    delay(far, near, roundTripMs / 2);
  });
  secure.listen(0, options.host, () => {
    network.listen(0, options.host, () => process.send(network.address().port));
  });
});
process.once("disconnect", () => process.exit());
