export { ApplyError, type Manifests } from "./testing/apply.ts";
export type { Span } from "./testing/clock.ts";
export {
  ControlPlane,
  type PlaneClock,
  PlaneSnapshot,
  type SettleOptions,
  startControlPlane,
} from "./testing/control-plane.ts";
export type { EventFaultOptions, Fault, FaultOptions, Faults } from "./testing/faults.ts";
export { forkPerTest, type PlaneOfTest, type TestHooks } from "./testing/fork-per-test.ts";
export type { FieldChange, ObjectName, ObjectVersion } from "./testing/history.ts";
export type { FaultLimits, RequestMatch } from "./testing/match.ts";
export type { ControlPlaneOptions } from "./testing/options.ts";
export type { RequestLog, RequestRecord } from "./testing/request-log.ts";
export type { TestUser } from "./testing/test-users.ts";
