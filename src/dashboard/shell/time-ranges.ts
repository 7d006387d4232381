import { dayMs, hourMs } from '../../clock/index.js'

/** The time ranges that can be chosen; the address has their `value`. */
export const ranges = [
  { value: '', label: 'Any time', ms: undefined },
  { value: '1h', label: 'Last hour', ms: hourMs },
  { value: '24h', label: 'Last 24 hours', ms: dayMs },
  { value: '7d', label: 'Last 7 days', ms: 7 * dayMs },
  { value: '30d', label: 'Last 30 days', ms: 30 * dayMs },
] as const
