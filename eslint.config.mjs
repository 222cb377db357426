import tseslint from "typescript-eslint";

export default tseslint.config(
  // Templates are copies of examples.
  {
    ignores: ["**/dist/", "templates/", ".stryker-tmp/", "reports/", "coverage/", "**/node_modules/", "test/fixtures/"],
  },
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/consistent-type-imports": [
        "error",
        { fixStyle: "inline-type-imports", disallowTypeAnnotations: false },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // Loading on first use is how the SDK stays light: `require` inside a function is on purpose.
      "@typescript-eslint/no-require-imports": "off",
      // An interface of many calls has members that need not wait.
      "@typescript-eslint/require-await": "off",
      // `class X` and `interface X` together give generated getters their types.
      "@typescript-eslint/no-unsafe-declaration-merging": "off",
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
    },
  },
  {
    files: ["**/*.{ts,mjs,cjs,js}"],
    rules: {
      curly: ["error", "multi-line"],
      // Code is as wide as prettier makes it.
      "max-len": ["error", { code: 1000, comments: 120, ignoreUrls: true }],
    },
  },
  {
    files: ["**/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: ":matches(PropertyDefinition, MethodDefinition[kind!='constructor'])[accessibility='private']",
          message: "Name a private field or method `#name`; `private` is for constructors and their parameters.",
        },
      ],
    },
  },
  {
    files: ["provider/**/*.ts", "sdk/**/*.ts"],
    rules: { complexity: ["error", 16], "max-params": ["error", 5] },
  },
  {
    // Its errors and answers hold the request's headers, and so our secrets: only the file that hides them may know it.
    files: ["provider/**/*.ts", "sdk/**/*.ts", "local/**/*.ts"],
    ignores: ["provider/platform/http.ts"],
    rules: { "no-restricted-imports": ["error", { patterns: ["axios", "axios/*"] }] },
  },
);
