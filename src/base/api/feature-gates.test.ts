import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  defaultFeatureGates,
  type FeatureGateName,
  FeatureGates,
  featureGates,
  parseFeatureGates,
} from "./feature-gates.ts";

suite("--feature-gates", () => {
  test("is parsed like in kube-apiserver", () => {
    const text = "A=true, B = f ,,C=1";
    assert.deepEqual(parseFeatureGates(text), { A: true, B: false, C: true });
    assert.deepEqual(parseFeatureGates(""), {});
    assert.throws(() => parseFeatureGates("A"), { message: "missing bool value for A" });
    assert.throws(() => parseFeatureGates("A=yes"), {
      message: 'invalid value of A=yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
    });
  });

  test("switches only gates that are implemented both ways", () => {
    const gates = new FeatureGates({ ContainerStopSignals: true });
    assert.ok(gates.enabled("ContainerStopSignals"));
    assert.ok(!defaultFeatureGates.enabled("ContainerStopSignals"));
    assert.ok(!gates.enabled("EmptyDirVolumeMode"));
  });

  test("reports why a gate cannot have a value", () => {
    const refusal = (given: Record<string, boolean>) => {
      try {
        new FeatureGates(given);
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.match(refusal({ NoSuchGate: true }) ?? "", /^unrecognized feature gate: NoSuchGate \(/);
    assert.match(refusal({ toString: true }) ?? "", /^unrecognized feature gate: toString/);
    assert.match(refusal({ AllAlpha: true }) ?? "", /^AllAlpha is not supported/);
    const onlyOff = "cannot set feature gate WorkloadWithJob to true: Binnacle implements only false";
    assert.equal(refusal({ WorkloadWithJob: true }), onlyOff);
    assert.equal(refusal({ WorkloadWithJob: false }), undefined);
    const onlyOn = "cannot set feature gate GenericWorkload to false: Binnacle implements only true";
    assert.equal(refusal({ GenericWorkload: false }), onlyOn);
    assert.equal(refusal({ GenericWorkload: true }), undefined);
  });
});

test("a gate with a different default than Kubernetes explains the difference", () => {
  const names = Object.keys(featureGates) as FeatureGateName[];
  for (const name of names) {
    const { default: upstream, difference } = featureGates[name];
    assert.equal(defaultFeatureGates.enabled(name) !== upstream, difference !== undefined, name);
  }
  assert.deepEqual(names, [...names].sort(), "gates are sorted by name");
});
