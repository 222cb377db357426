import assert from "node:assert/strict";
import { Databases } from "../../../../local/platform/databases";
import { Faults } from "../../../../local/platform/faults";
import { MessageQueue } from "../../../../local/platform/queue/messageQueue";
import { QueueUsers } from "../../../../local/platform/queueUsers";
import { RedisListener } from "../../../../local/platform/redisListener";
import { RequestLog } from "../../../../local/platform/requests";
import { application, startPlatform } from "../../../../local/platform/server";
import { SigningKeyStore } from "../../../../local/platform/signingKeys";
import { TokenResources } from "../../../../local/platform/tokenResources";
import fields from "../../../fixtures/interface-fields.json";
import { databasePath } from "../client";
import { description, operations, resolved, text } from "./document";

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
    assert.deepEqual({ status: response.status, text: await response.text() }, { status: 200, text });
    await platform.close();
  });

  it("has every route of the server, and no other", async () => {
    const listener = await RedisListener.open();
    const signingKeys = new SigningKeyStore();
    const indexes = new TokenResources("index", []);
    const globalParallelism = { parallelismMax: 1 };
    const state = {
      requests: new RequestLog(),
      faults: new Faults(),
      databases: new Databases([], listener),
      vectorIndexes: indexes,
      searchIndexes: indexes,
      queueUsers: new QueueUsers(),
      signingKeys,
      queue: new MessageQueue({ flowControlKeys: [], globalParallelism, retryDelay: 1, signingKeys }),
    };
    const { routes } = application(state, { username: "u", password: "p" }, { databasePath }, () => ({}));
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

  for (const { name, documented, others } of [
    { name: "DatabaseRecord", documented: fields.database, others: credentials },
    { name: "FlowControlKey", documented: fields.flowControl, others: flags },
    { name: "GlobalParallelism", documented: fields.globalParallelism, others: [] },
  ]) {
    it(`has the fields that the interface document gives ${name}, and their types`, () => {
      const { properties } = description.components.schemas[name]!;
      assert.deepEqual(new Set(Object.keys(properties)), new Set([...documented.map(({ name }) => name), ...others]));
      for (const field of documented) {
        const schema = resolved(properties[field.name]!);
        assert.deepEqual({ ...schema, ...schemaOf(field) }, schema, field.name);
      }
    });
  }

  it("requires each field of a database record but the credentials", () => {
    const names = fields.database.map(({ name }) => name);
    assert.deepEqual(description.components.schemas["DatabaseRecord"]!.required, names);
  });
});

interface Field {
  readonly type: string;
  readonly values?: readonly string[];
  readonly booleans?: readonly string[];
}

/** What the description must say of a field, by the type that the interface document gives it. */
function schemaOf({ type, values, booleans = [] }: Field): object {
  const flags = Object.fromEntries(booleans.map((name) => [name, { type: "boolean" }]));
  const schemas: Readonly<Record<string, object>> = {
    string: { type: "string" },
    "string enum": { type: "string", enum: values },
    int64: { type: "integer", format: "int64" },
    integer: { type: "integer" },
    count: { type: "integer", minimum: 0 },
    boolean: { type: "boolean" },
    "string[]": { type: "array", items: { type: "string" } },
    object: { type: "object", required: booleans, properties: flags, additionalProperties: false },
  };
  return schemas[type]!;
}
