// The one table of rules, in an order in which what everything else stands on comes first.
import type { CheckRule } from '../types.ts';
import { ERROR_RULES } from './errors.ts';
import { HANDSHAKE_RULES } from './handshake.ts';
import { LIFECYCLE_RULES } from './lifecycle.ts';
import { MANIFEST_RULES } from './manifest.ts';
import { OBSERVATION_RULES } from './observation.ts';
import { SCREEN_RULES } from './screens.ts';
import { SIGNAL_RULES } from './signals.ts';
import { WIRE_RULES } from './wire.ts';

export const CHECK_RULES: readonly CheckRule[] = Object.freeze([
  ...HANDSHAKE_RULES,
  ...WIRE_RULES,
  ...MANIFEST_RULES,
  ...LIFECYCLE_RULES,
  ...SIGNAL_RULES,
  ...ERROR_RULES,
  ...OBSERVATION_RULES,
  ...SCREEN_RULES,
]);
