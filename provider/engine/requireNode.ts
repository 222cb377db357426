import { RekeyError } from "../domain/errors";
import { howToInstallNode, unsupportedNode } from "./installedPackage";
import { markAsRunError } from "./pulumiInternals";

// Entries import this file before any other: an older Node cannot load or run the rest.
const problem = unsupportedNode();
if (problem !== undefined) {
  const error = new RekeyError(
    "REKEY_NODE_TOO_OLD",
    `${problem}. No request was made. ${howToInstallNode}`,
    "not sent",
  );
  // Pulumi ends the program with the message alone.
  throw markAsRunError(error);
}
