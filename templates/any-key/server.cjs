// A vendor of API keys on this machine: `POST /keys` creates one, `DELETE /keys/<id>` deletes it, and any other request
// needs one. A key is valid until it is deleted.
const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const { createServer } = require("node:http");

/** @param limit how many keys may be valid at once */
exports.startServer = async ({ port = 0, limit = Infinity } = {}) => {
  const keys = new Map();
  const vendor = {
    keys,
    /** The status of a request with a key. */
    statusOf: (_path, key) => ([...keys.values()].includes(key) ? 200 : 401),
  };
  const server = createServer(({ method, url, headers }, response) => {
    const reply = (status, body = {}) => response.writeHead(status).end(JSON.stringify(body));
    if (url === "/keys" && method === "POST") {
      if (keys.size >= limit) return reply(409, { error: "too many keys" });
      const [id, key] = [randomUUID(), randomUUID()];
      keys.set(id, key);
      return reply(201, { id, key });
    }
    if (method === "DELETE") return reply(keys.delete(url.replace("/keys/", "")) ? 200 : 404);
    return reply(vendor.statusOf(url, (headers.authorization ?? "").replace("Bearer ", "")));
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  vendor.url = `http://127.0.0.1:${server.address().port}`;
  vendor.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return vendor;
};

if (require.main === module) {
  exports.startServer({ port: 6391 }).then(({ url }) => console.log(url));
}
