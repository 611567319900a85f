import assert from "node:assert/strict";
import { test } from "node:test";
import { imageNameProblem } from "./image-name.ts";

test("accepts the names that images have", () => {
  for (const image of [
    "nginx",
    "nginx:1.27",
    "shop/web:v2_1.3-x",
    "localhost:5000/web",
    "registry.example.com/a/b__c/d--e:latest",
    "[::1]:5000/web",
    `nginx@sha256:${"a".repeat(64)}`,
    `registry.example.com:443/web:1@sha256:${"0".repeat(64)}`,
  ]) {
    assert.equal(imageNameProblem(image), undefined, image);
  }
});

test("explains why a name is not valid, as a kubelet does", () => {
  const invalid = "invalid reference format";
  for (const [image, problem] of [
    ["Nginx", `${invalid}: repository name (library/Nginx) must be lowercase`],
    ["example.com/Web:1", `${invalid}: repository name (Web) must be lowercase`],
    ["nginx:", invalid],
    ["nginx:a:b", invalid],
    ["nginx latest", invalid],
    ["shop//web", invalid],
    ["nginx@sha256:12", invalid],
    ["-nginx", invalid],
    ["example.com:x/web", invalid],
    ["a".repeat(64), `invalid repository name (${"a".repeat(64)}), cannot specify 64-byte hexadecimal strings`],
    ["x".repeat(256), "repository name must not be more than 255 characters"],
  ] as const) {
    assert.equal(imageNameProblem(image), problem, image);
  }
});
