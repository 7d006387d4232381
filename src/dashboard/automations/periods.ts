import { dayMs } from '../../clock/index.js'

/** How far back a page looks. */
export interface Period {
  value: string
  label: string
  days: number
  /** How many days each bar of a chart has. */
  each: number
}

const periods: readonly Period[] = [
  { value: '7', label: 'Last 7 days', days: 7, each: 1 },
  { value: '30', label: 'Last 30 days', days: 30, each: 1 },
  { value: '90', label: 'Last 90 days', days: 90, each: 1 },
  { value: '364', label: 'Last 12 months', days: 364, each: 7 },
]

export const periodChoices = periods.map(({ value, label }) => ({ value, label }))

/** The period that is asked for; undefined for an unknown one. */
export const periodIn = (query: URLSearchParams, usual = ''): Period | undefined =>
  periods.find(({ value }) => value === (query.get('period') ?? usual))

/** When the period began. */
export const beginOf = ({ days }: Period, now: number): number => now - days * dayMs
