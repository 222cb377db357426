import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020";
import { parse } from "yaml";
import { type HttpResponse } from "../client";

export const text = readFileSync(join(__dirname, "../../../../local/platform/openapi.yaml"), "utf8");

/** What these tests read of the description; its form as a whole is checked by a validator of OpenAPI. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { required: string[]; properties: Record<string, Schema> }>>;
  };
}
interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Operation {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, object>>;
}
interface Response {
  readonly content: Readonly<Record<string, { readonly schema?: object }>>;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>;
}

export const description = parse(text) as Description;

export interface Described extends Operation {
  readonly method: string;
  readonly path: string;
}

export const operations: readonly Described[] = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== "parameters")
    .map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(description, "description");
/** Headers are text, whatever their type. */
const ajvOfHeaders = new Ajv2020({ strict: false, coerceTypes: true });

/** Holds an answer to what is described of its operation and status: body, content type and headers. */
export function assertDescribed({ responses, operationId }: Described, answer: HttpResponse): void {
  const at = `${operationId} ${answer.status}`;
  const given = responses[answer.status];
  assert.ok(given, `${at} is not described: ${answer.text}`);
  const { content, headers = {} } = resolved(given) as unknown as Response;
  const type = String(answer.headers["content-type"]);
  const schema = content[type]?.schema;
  assert.ok(schema, `${at} has a content type that is not described: ${type}`);
  const isValid = ajv.compile(withBase(schema));
  assert.ok(isValid(answer.body ?? answer.text), `${at}: ${ajv.errorsText(isValid.errors)}\n${answer.text}`);
  for (const [name, header] of Object.entries(headers)) {
    const value = answer.headers[name.toLowerCase()];
    assert.ok(value !== undefined || !header.required, `${at} lacks ${name}`);
    assert.ok(
      ajvOfHeaders.validate({ properties: { value: header.schema } }, { value }),
      `${at}: ${name}: ${String(value)}`,
    );
  }
}

function resolved(part: object): object {
  const { $ref } = part as { $ref?: string };
  const names = $ref?.split("/").slice(1) ?? [];
  return names.reduce((found: object, name) => found[name as keyof object], names.length ? description : part);
}

/** A schema taken out of the description, with references that still lead into it. */
function withBase(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"description#/')) as object;
}
