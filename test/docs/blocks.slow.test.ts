import { pages } from "./page";
import { describeBlocks } from "./runBlocks";

describe("The code blocks of docs/", () => {
  describeBlocks(pages.filter(({ path, generatedBy }) => generatedBy === undefined && path !== "README.md"));
});
