import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { assertBelow, processorMs } from "../../../../../test/support/machine-speed.ts";
import { fc } from "../../../../../test/support/random.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import { AvailableVolumes, suffices } from "./available-volumes.ts";
import { groupOf } from "./facts.ts";

const MODES = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"];
const shared = {
  storageClassName: fc.constantFrom("a", "b"),
  volumeMode: fc.constantFrom("Filesystem", "Block"),
  accessModes: fc.subarray(MODES, { minLength: 1 }),
};
const volumeSpecs = fc.record({ ...shared, capacity: fc.record({ storage: fc.constantFrom("1Gi", "2Gi", "3G") }) });
const claims = fc.record({ ...shared, storage: fc.constantFrom("1G", "2Gi", "3Gi") });

function volume(name: string, spec: PersistentVolume["spec"], phase = "Available"): PersistentVolume {
  return { kind: "PersistentVolume", apiVersion: "v1", metadata: { name }, spec, status: { phase } };
}

function claim(spec: PersistentVolumeClaim["spec"], storage: string): PersistentVolumeClaim {
  const resources = { requests: { storage } };
  return { kind: "PersistentVolumeClaim", apiVersion: "v1", metadata: {}, spec: { ...spec, resources } };
}

const SIZES = ["1Gi", "2Gi", "3G"];
const sizeOf = ({ spec }: PersistentVolume) => SIZES.indexOf(spec.capacity?.storage ?? "");

suite("AvailableVolumes", () => {
  test("finds the same volume as a search through all volumes", () => {
    const property = fc.property(fc.array(volumeSpecs), fc.array(fc.nat(20)), claims, (specs, removed, wanted) => {
      const volumes = specs.map((spec, index) => volume(`v${index}`, spec));
      const available = new AvailableVolumes();
      for (const one of volumes) available.change(undefined, one);
      for (const index of new Set(removed)) {
        const one = volumes[index];
        if (one) available.change(one, { ...one, status: { phase: "Bound" } });
      }
      const { storage, ...spec } = wanted;
      const one = claim(spec, storage);
      const [best] = volumes
        .filter((_, index) => !removed.includes(index))
        .filter((other) => groupOf(other) === groupOf(one) && suffices(other, one))
        .sort((a, b) => (a.spec.accessModes?.length ?? 0) - (b.spec.accessModes?.length ?? 0) || sizeOf(a) - sizeOf(b));
      const found = available.smallest(one);
      assert.equal(found === undefined, best === undefined);
      if (found === undefined || best === undefined) return;
      assert.equal(found.spec.accessModes?.length, best.spec.accessModes?.length);
      // Among lists of the same length, any may come first.
      if (String(found.spec.accessModes) === String(best.spec.accessModes)) assert.equal(sizeOf(found), sizeOf(best));
    });
    fc.assert(property);
  });

  test("gives 20,000 claims their volumes in time proportional to their number", () => {
    const available = new AvailableVolumes();
    const wanted = claim({ accessModes: ["ReadWriteOnce"] }, "1Gi");
    const volumes = Array.from({ length: 20_000 }, (_, index) =>
      volume(`v${index}`, { accessModes: ["ReadWriteOnce"], capacity: { storage: `${1024 + (index % 100)}Mi` } }),
    );
    const ms = processorMs(() => {
      for (const one of volumes) available.change(undefined, one);
      for (let left = volumes.length; left > 0; left -= 1) {
        const found = available.smallest(wanted);
        assert.ok(found);
        available.change(found, undefined);
      }
    });
    assert.equal(available.smallest(wanted), undefined);
    assertBelow(ms, 400, "20,000 claims");
  });
});
