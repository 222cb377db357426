import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020";
import { parse } from "yaml";
import { type HttpResponse } from "../client";

export const text = readFileSync(join(__dirname, "../../../../local/platform/openapi.yaml"), "utf8");

/** What these tests read of the description; a validator of OpenAPI checks it as a whole. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { required: string[]; properties: Record<string, object> }>>;
  };
}
interface Operation {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
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
/** Headers arrive as text, whatever their type. */
const ajvOfHeaders = new Ajv2020({ strict: false, coerceTypes: true });

/** Compares a response with the description of its operation and status: body, content type and headers. */
export function assertDescribed({ responses, operationId }: Described, response: HttpResponse): void {
  const at = `${operationId} ${response.status}`;
  const given = responses[response.status];
  assert.ok(given, `${at} is not described: ${response.text}`);
  const { content, headers = {} } = resolved(given) as unknown as Response;
  const type = String(response.headers["content-type"]);
  const schema = content[type]?.schema;
  assert.ok(schema, `${at} has a content type that is not described: ${type}`);
  const isValid = ajv.compile(withBase(schema));
  assert.ok(isValid(response.body ?? response.text), `${at}: ${ajv.errorsText(isValid.errors)}\n${response.text}`);
  for (const [name, header] of Object.entries(headers)) {
    const value = response.headers[name.toLowerCase()];
    const schema = { properties: { value: header.schema }, required: header.required ? ["value"] : [] };
    const sent = value === undefined ? {} : { value };
    assert.ok(ajvOfHeaders.validate(schema, sent), `${at}: ${name}: ${String(value)}`);
  }
}

/** A part of the description, or the one that it refers to. */
export function resolved(part: object): object {
  const { $ref } = part as { $ref?: string };
  const names = $ref?.split("/").slice(1) ?? [];
  return names.reduce((found: object, name) => found[name as keyof object], names.length ? description : part);
}

/** A schema taken out of the description, with references that still lead into it. */
function withBase(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"description#/')) as object;
}
