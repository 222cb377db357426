import assert from "node:assert/strict";
import { databaseRecord } from "../../../../local/platform/databaseRecord";
import { Databases } from "../../../../local/platform/databases";
import { Faults } from "../../../../local/platform/faults";
import { MessageQueue } from "../../../../local/platform/queue/messageQueue";
import { RedisListener } from "../../../../local/platform/redisListener";
import { RequestLog } from "../../../../local/platform/requests";
import { application, startPlatform } from "../../../../local/platform/server";
import fields from "../../../fixtures/interface-fields.json";
import { description, operations, text } from "./document";

/** Fields that only the description has: credentials that an option adds. */
const credentials = ["password", "rest_token", "read_only_rest_token"];
/** Fields of such a platform in addition to those of the document. */
const flags = ["isPaused", "isPinnedParallelism", "isPinnedRate"];

/** Routes of pages, which are not part of the interface. */
const isPage = (path: string) => path === "/" || path.startsWith("/console/");
/** A route without the names of its parameters. */
const shape = (path: string) => path.replaceAll(/\{\w+\}|:\w+|\*/g, "{}");

describe("local platform: the description", () => {
  it("is valid OpenAPI 3.1", async () => {
    const { Validator } = await import("@seriousme/openapi-schema-validator");
    const validator = new Validator();
    const { errors } = await validator.validate(text);
    assert.deepEqual({ errors, version: validator.version }, { errors: undefined, version: "3.1" });
  });

  it("is served without credentials, unchanged", async () => {
    const platform = await startPlatform();
    const response = await fetch(`${platform.url}/openapi.yaml`);
    assert.deepEqual([response.status, await response.text()], [200, text]);
    await platform.close();
  });

  it("has every route of the server, and no other", async () => {
    const listener = await RedisListener.open();
    const state = {
      requests: new RequestLog(),
      faults: new Faults(),
      databases: new Databases([], listener),
      queue: new MessageQueue({ flowControlKeys: [], globalParallelism: { parallelismMax: 1 }, retryDelay: 1 }),
    };
    const { routes } = application(state, { username: "u", password: "p", queueToken: "t" }, {}, () => ({}));
    const served = routes.filter(({ method, path }) => method !== "ALL" && !isPage(path));
    assert.deepEqual(
      [...new Set(served.map(({ method, path }) => `${method} ${shape(path)}`))].sort(),
      operations.map(({ method, path }) => `${method} ${shape(path)}`).sort(),
      "describe new routes in local/platform/openapi.yaml",
    );
    await listener.close();
  });

  it("names each operation once", () => {
    const ids = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
  });

  it("has the fields of the platform's database record", () => {
    const record = description.components.schemas["DatabaseRecord"]!;
    const own = Object.keys(databaseRecord({ database_id: "x" })).sort();
    assert.deepEqual([...record.required].sort(), own);
    assert.deepEqual(Object.keys(record.properties).sort(), [...own, ...credentials].sort());
    for (const { name, values, booleans } of fields.database) {
      assert.deepEqual(record.properties[name]?.enum, values, name);
      const inner = record.properties[name]?.properties;
      assert.deepEqual(inner && Object.keys(inner), booleans, name);
    }
  });

  it("has the fields of a flow-control key", () => {
    const names = fields.flowControl.map(({ name }) => name);
    assert.deepEqual(Object.keys(description.components.schemas["FlowControlKey"]!.properties), [...names, ...flags]);
  });
});
