// Every message, in the order in which one may meet them: each made by the code itself.
import { sections as commandLine } from "./commandLine.mjs";
import { sections as fleets } from "./fleets.mjs";
import { sections as localEngine } from "./localEngine.mjs";
import { sections as localPlatform } from "./localPlatform.mjs";
import { sections as provider } from "./provider.mjs";
import { sections as sdk } from "./sdk.mjs";

/** Sections of `[message, meaning]`; a message that may be one of several has them in a list. */
export const sections = [...sdk, ...provider, ...fleets, ...commandLine, ...localEngine, ...localPlatform];
