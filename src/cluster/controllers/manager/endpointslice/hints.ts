import { isDeepStrictEqual } from "node:util";
import type { Endpoint, EndpointHints, EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import type { Service } from "../../../../kinds/types/service.ts";
import type { SliceChanges } from "./managed-slices.ts";

/** The later one replaces the earlier one. */
const MODE_ANNOTATIONS = ["service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"];

/** Whether the annotations of a Service ask for hints by the capacity of zones. */
export function wantsTopologyHints({ metadata: { annotations = {} } }: Service): boolean {
  const name = MODE_ANNOTATIONS.find((one) => Object.hasOwn(annotations, one));
  return name !== undefined && (annotations[name] === "Auto" || annotations[name] === "auto");
}

/** The hints that an endpoint should have. Undefined for none. */
export type HintsFor = (endpoint: Endpoint) => EndpointHints | undefined;

/** Whether an endpoint is ready. */
export const isReadyEndpoint = ({ conditions }: Endpoint): boolean => conditions?.ready === true;

/** The hints that follow from `spec.trafficDistribution`. Without it, endpoints have no hints. */
export function distributionHints({ spec }: Service): HintsFor {
  const { trafficDistribution = "" } = spec ?? {};
  const isNear = ["PreferClose", "PreferSameZone", "PreferSameNode"].includes(trafficDistribution);
  if (!isNear) return () => undefined;
  return (endpoint) => {
    // Compat: `preferCloseHeuristic` leaves the hints of endpoints that are not ready as they are.
    if (!isReadyEndpoint(endpoint)) return endpoint.hints;
    const { zone, nodeName } = endpoint;
    const hints = {
      ...(zone !== undefined && { forZones: [{ name: zone }] }),
      ...(nodeName !== undefined && trafficDistribution === "PreferSameNode" && { forNodes: [{ name: nodeName }] }),
    };
    return Object.keys(hints).length === 0 ? undefined : hints;
  };
}

/** Sets the hints of all slices. Slices whose hints change are updated. */
export function setHints(changes: SliceChanges, existing: readonly EndpointSlice[], hintsFor: HintsFor): SliceChanges {
  const hinted = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).map((endpoint) => withHints(endpoint, hintsFor(endpoint))),
  });
  const outdated = unchangedSlices(changes, existing).filter(({ endpoints }) =>
    (endpoints ?? []).some((endpoint) => !isDeepStrictEqual(endpoint.hints, hintsFor(endpoint))),
  );
  return { ...changes, create: changes.create.map(hinted), update: [...changes.update, ...outdated].map(hinted) };
}

/** The existing slices that no change concerns. */
export function unchangedSlices(changes: SliceChanges, existing: readonly EndpointSlice[]): EndpointSlice[] {
  const changed = new Set([...changes.update, ...changes.delete].map(({ metadata }) => metadata.name));
  return existing.filter(({ metadata }) => !changed.has(metadata.name));
}

/** An endpoint with these hints, or without any. */
export function withHints({ hints: _, ...endpoint }: Endpoint, hints: EndpointHints | undefined): Endpoint {
  return (hints === undefined ? endpoint : { ...endpoint, hints }) as Endpoint;
}
