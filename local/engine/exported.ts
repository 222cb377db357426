import { z } from "zod";
import { EngineError } from "./errors";
import { type ExportedDeployment } from "./types";

const texts = z.array(z.string()).optional();
const properties = z.record(z.string(), z.unknown()).optional();

/** What the engine uses of a saved resource. Whatever else there is stays as it is. */
const resource = z.looseObject({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  inputs: properties,
  outputs: properties,
  parent: z.string().optional(),
  provider: z.string().optional(),
  dependencies: texts,
  propertyDependencies: z.record(z.string(), texts).optional(),
  additionalSecretOutputs: texts,
  aliases: texts,
  initErrors: texts,
  ignoreChanges: texts,
  customTimeouts: z.record(z.string(), z.unknown()).optional(),
});

const exported = z.looseObject({
  version: z.number(),
  deployment: z.looseObject({
    secrets_providers: z
      .looseObject({ type: z.string(), state: z.looseObject({ salt: z.string().optional() }).optional() })
      .optional(),
    resources: z.array(resource).optional(),
    pending_operations: z.array(z.looseObject({ resource, type: z.string() })).optional(),
  }),
});

/**
 * A deployment as `pulumi stack export` writes it, if it is one.
 *
 * @param name what it is called in the error
 * @throws EngineError that names the first field that is not as it should be
 */
export function checkExported(json: unknown, name: string): ExportedDeployment {
  const result = exported.safeParse(json);
  if (result.success) return json as ExportedDeployment;
  const issue = result.error.issues[0];
  const field = issue && issue.path.length > 0 ? `${z.core.toDotPath(issue.path)}: ` : "";
  throw new EngineError(`${name} is broken: ${field}${issue?.message ?? "it cannot be used"}`);
}
