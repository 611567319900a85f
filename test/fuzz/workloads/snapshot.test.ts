import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KubeObject } from "../../../src/base/api/object.ts";
import { NamespaceView } from "./cluster-view.ts";
import { differences } from "./differences.ts";
import { takeSnapshot } from "./snapshot.ts";

const OPTIONS = {
  kinds: ["ReplicaSet"],
  unnamed: ["EndpointSlice"],
  eventRules: { components: ["controller"], rules: { Scaled: "steps", Retry: "ignored" } },
} as const;

const meta = (name: string, uid: string) => ({ name, uid, resourceVersion: uid.slice(0, 2), creationTimestamp: uid });

/** A ReplicaSet with one Pod and some Events, as another cluster with other random names would have them. */
function snapshot({ uid, suffix, replicas = 1, events }: Cluster) {
  const view = new NamespaceView();
  const apply = (kind: string, name: string, more: object) =>
    view.apply("ADDED", { kind, apiVersion: "v1", metadata: meta(name, uid), ...more } as KubeObject);
  const status = { lastScaleTime: uid, conditions: [{ type: "A", lastTransitionTime: uid }] };
  apply("ReplicaSet", "web", { spec: { replicas }, status });
  apply("Pod", `web-${suffix}`, { spec: { nodeName: uid }, status: { phase: "Running" } });
  for (const [index, [reason, message]] of events.entries()) {
    const involvedObject = { kind: "ReplicaSet", name: "web" };
    apply("Event", `e${index}`, {
      reason,
      message,
      type: "Normal",
      involvedObject,
      source: { component: "controller" },
    });
  }
  return takeSnapshot(view, OPTIONS);
}

interface Cluster {
  readonly uid: string;
  readonly suffix: string;
  readonly replicas?: number;
  readonly events: readonly (readonly [reason: string, message: string])[];
}

const ONE = { uid: "0d1fb0c5-abb4-463b-bb1d-45cc08c8c2bb", suffix: "bcdfg" };
const OTHER = { uid: "b5a7983e-abb4-463b-bb1d-45cc08c8c2bb", suffix: "xz245" };

suite("snapshots of workloads", () => {
  test("are the same for other random names, uids, times, nodes and steps", () => {
    const one = snapshot({
      ...ONE,
      events: [
        ["Created", "pod: web-bcdfg"],
        ["Scaled", "up web from 0 to 2"],
      ],
    });
    const events = [
      ["Created", "pod: web-xz245"],
      ["Scaled", "up web from 0 to 1"],
      ["Scaled", "up web from 1 to 2"],
      ["Retry", "again"],
      ["Created", "failed: the object has been modified; please try again"],
    ] as const;
    assert.deepEqual(differences(one, snapshot({ ...OTHER, events })), []);
  });

  test("differ in specs, Pods and Events", () => {
    const one = snapshot({ ...ONE, events: [["Created", "pod: web-bcdfg"]] });
    const other = snapshot({ ...OTHER, suffix: "a", replicas: 2, events: [["Created", "pod: other"]] });
    const paths = differences(one, other).map(({ path }) => path.replace(/(?<=pods › ).*/, "…"));
    assert.deepEqual(paths, [
      "objects › ReplicaSet web › spec › replicas",
      ...["pods › …", "pods › …"],
      "events › ReplicaSet web › Normal Created › pod: web-<random>",
      "events › ReplicaSet web › Normal Created › pod: other",
    ]);
  });
});
