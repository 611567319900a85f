import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { needs } from "../support/tools.ts";
import { type Comparison, Proof } from "./proof.ts";

/** Every kind with everything that is tried. */
const SAMPLES = 180;

suite(
  "what would become of manifests, beside the real server",
  needs("kube-apiserver", "etcd", "etcdctl", "kubectl"),
  () => {
    let proof: Proof;
    let dumps: Awaited<ReturnType<Proof["dumps"]>>;
    before(async () => {
      proof = await Proof.start(SAMPLES);
      dumps = await proof.dumps();
    });
    after(() => proof?.stop());

    const requireSame = ({ differences, refused, compared }: Comparison) => {
      assert.deepEqual(differences.slice(0, 5), []);
      assert.ok(refused > 0 && refused < compared, "some are refused, and some are not");
    };

    test("each object by itself, from dumps of kubectl, of etcdctl and of binnacle export, as with --dry-run=server", async () => {
      for (const comparison of await proof.isolated(dumps)) requireSame(comparison);
    });

    test("as somebody who may do little", async () => requireSame(await proof.asAlice(dumps.kubectl)));

    test("one after the other, with what they build on each other and use up", async () => {
      requireSame(await proof.inSequence(dumps.snapshot));
    });
  },
);
