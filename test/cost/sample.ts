import { type Case, type Form, SIZES, type Way } from "./cases.ts";
import type { CostFuzzer } from "./fuzzer.ts";
import { allPlaces, placeName } from "./places.ts";

/** Kind, place, start of the growth's name, and how it is sent. */
type Row = readonly [kind: string, place: string, growth: string, way?: Way, form?: Form];

/** Places that once blocked the event loop for seconds, or that every kind has. */
const LARGE: readonly Row[] = [
  ["v1/services", "spec.clusterIP", '"" "0"… "x"'],
  ["v1/services", "spec.loadBalancerSourceRanges", "distinct items"],
  ["v1/nodes", "spec.podCIDR", '"" "0"… "x"'],
  ["certificates.k8s.io/v1/certificatesigningrequests", "spec.request", '"-----BEGIN X" " "…'],
  ["certificates.k8s.io/v1beta1/clustertrustbundles", "spec.trustBundle", '"-----BEGIN X" " "…'],
  ["batch/v1/cronjobs", "spec.schedule", '"@every " "1"…'],
  ["batch/v1/cronjobs", "spec.schedule", '"" "0-59,"…'],
  ["batch/v1/jobs", "spec.managedBy", '"" "."… "x"'],
  ["v1/pods", "spec.containers[].env[].valueFrom.fieldRef.fieldPath", `"metadata.annotations['" "['"…`],
  ["v1/pods", "spec.volumes[].projected.sources[].configMap.items[].path", '"a" "/"… "x"'],
  ["v1/pods", "spec.volumes[].iscsi.iqn", '"" "iqn.2020-01."… "x"'],
  ["v1/configmaps", "data{}", '"a" "\\n"… "x"', "store"],
  ["coordination.k8s.io/v1/leases", "spec.renewTime", '"2026-01-01T00:00:00." "0"…'],
  ["storage.k8s.io/v1/csinodes", "spec.drivers[].topologyKeys", "distinct items"],
  ["storage.k8s.io/v1/csinodes", "spec.drivers", "distinct items"],
  [
    "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "webhooks[].admissionReviewVersions",
    "distinct items",
  ],
  [
    "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "spec.matchConstraints.resourceRules[].resourceNames",
    "distinct items",
  ],
  ["certificates.k8s.io/v1/certificatesigningrequests", "spec.usages", "distinct items"],
  ["v1/pods", "spec.containers[].resources.claims", "distinct items"],
  ["v1/pods", "spec.volumes[].configMap.items", "equal items"],
  ["v1/pods", "spec.containers[].ports", "equal items"],
  ["discovery.k8s.io/v1/endpointslices", "endpoints[].addresses", "equal items"],
  ["v1/configmaps", "metadata.annotations", "doubled keys", "create", "JSON, Strict"],
  ["v1/services", "spec.clusterIPs", "distinct items"],
  ["v1/pods", "spec.containers", "empty items", "create", "protobuf"],
  ["v1/pods", "status.containerStatuses", "empty items", "status", "protobuf"],
];

/** Places whose large form still takes about as long as the limit. */
const SMALL: readonly Row[] = [
  ["v1/pods", "spec.containers[].env", "distinct items", "apply"],
  ["v1/configmaps", "data", "distinct keys", "apply"],
  ["v1/resourcequotas", "spec.hard", "distinct keys"],
];

/** The cases of the sample. Throws if a row has an unknown place or growth. */
export function sampleCases(fuzzer: CostFuzzer): Case[] {
  const places = allPlaces();
  const caseOf = ([kind, name, start, way = "create", form = "JSON"]: Row, size: number): Case => {
    const place = places.find((one) => one.kind.name === kind && placeName(one) === name);
    const growth = place && fuzzer.growths(place).find((one) => one.name.startsWith(start));
    if (!growth) throw new Error(`no such place or growth: ${kind} ${name} ${start}`);
    return { place, growth, size, way, form };
  };
  return [...LARGE.map((row) => caseOf(row, SIZES.large)), ...SMALL.map((row) => caseOf(row, SIZES.screen))];
}
