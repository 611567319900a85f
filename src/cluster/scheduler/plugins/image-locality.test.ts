import assert from "node:assert/strict";
import { test } from "node:test";
import { imageLocality } from "./image-locality.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";

const MIB = 1024 * 1024;
const withImages = (name: string, ...sizes: readonly number[]) =>
  node(name, { status: { images: sizes.map((mib) => ({ names: [`gcr.io/${mib}:latest`], sizeBytes: mib * MIB })) } });
const using = (...sizes: readonly number[]) =>
  pod("p", { containers: sizes.map((mib) => ({ name: `c${mib}`, image: `gcr.io/${mib}` })) });

/** Expected scores: image_locality_test.go */
const CASES = [
  {
    images: [40, 250],
    nodes: [
      [40, 300, 2000],
      [250, 10],
    ],
    scores: [0, 5],
  },
  {
    images: [40, 300],
    nodes: [
      [40, 300, 2000],
      [250, 10],
    ],
    scores: [7, 0],
  },
  {
    images: [4000, 10],
    nodes: [
      [4000, 30],
      [250, 10],
    ],
    scores: [100, 0],
  },
  { images: [4000, 10], nodes: [[4000, 30], [250, 10], []], scores: [66, 0, 0] },
  { images: [300, 600, 900], nodes: [[600, 900], [300, 600, 900], []], scores: [32, 36, 0] },
];

for (const { images, nodes, scores } of CASES) {
  test(`scores nodes with images ${JSON.stringify(nodes)} for images ${images} as ${scores}`, () => {
    const world = new PluginWorld(imageLocality, {}, ...nodes.map((sizes, index) => withImages(`n${index}`, ...sizes)));
    assert.deepEqual(Object.values(world.scores(using(...images)) ?? {}), scores);
  });
}
