import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { assertBelow, processorMs } from "../../../../../test/support/machine-speed.ts";
import { fc } from "../../../../../test/support/random.ts";
import { compareQuantities } from "../../../../base/api/quantity.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import { capacityOf, groupOf, hasAccessModes, requestOf } from "../../shared/volume-facts.ts";
import { AvailableVolumes } from "./available-volumes.ts";
import { WaitingClaims } from "./waiting-claims.ts";

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

const suffices = (one: PersistentVolume, other: PersistentVolumeClaim): boolean =>
  groupOf(one) === groupOf(other) &&
  hasAccessModes(one, other) &&
  compareQuantities(capacityOf(one), requestOf(other)) >= 0;

const SIZES = ["1Gi", "2Gi", "3G"];
const sizeOf = ({ spec }: PersistentVolume) => SIZES.indexOf(spec.capacity?.storage ?? "");

suite("WaitingClaims", () => {
  test("finds a claim that a volume satisfies, if there is one", () => {
    const property = fc.property(fc.array(claims), fc.array(fc.nat(20)), volumeSpecs, (specs, removed, spec) => {
      const all = specs.map(({ storage, ...rest }, index) => {
        const one = claim(rest, storage);
        return { ...one, metadata: { name: `c${index}`, namespace: "default" } };
      });
      const waiting = new WaitingClaims();
      for (const one of all) waiting.change(undefined, one);
      const left = all.filter((_, index) => !removed.includes(index));
      for (const one of all) if (!left.includes(one)) waiting.change(one, undefined);
      const offered = volume("v", spec);
      const found = waiting.first(offered);
      assert.equal(
        found !== undefined,
        left.some((one) => suffices(offered, one)),
      );
      if (found) assert.ok(left.includes(found as (typeof left)[number]) && suffices(offered, found));
    });
    fc.assert(property);
  });

  test("does not look at 5,000 claims that are too large for any of 5,000 volumes", () => {
    const waiting = new WaitingClaims();
    for (let index = 0; index < 5000; index += 1) {
      const one = claim({ accessModes: ["ReadWriteOnce"] }, "2Gi");
      waiting.change(undefined, { ...one, metadata: { name: `c${index}` } });
    }
    const small = volume("v", { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } });
    const ms = processorMs(() => {
      for (let index = 0; index < 5000; index += 1) assert.equal(waiting.first(small), undefined);
    });
    assertBelow(ms, 50, "5,000 volumes");
  });
});

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
        .filter((other) => suffices(other, one))
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
