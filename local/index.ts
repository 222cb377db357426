export * from "./engine/index";
export * from "./platform/index";
