import type { SettingInForce } from './sources.js'

/** A setting in force, as it may be shown: secrets are hidden. */
export interface ShownSetting {
  name: string
  value: unknown
  /** The value as it would stand in the file. */
  text: string
  source: 'environment' | 'file' | 'default'
  /** The variable, the line of the file, or `default`. */
  from: string
  line: number | null
  variable: string | null
}

/** What may be shown of a setting in force. */
export function shownSetting({ name, line, variable, ...given }: SettingInForce): ShownSetting {
  const [value, written] = [hidden(given.value), hidden(given.written)]
  return {
    ...{ name, value, line: line ?? null, variable: variable ?? null },
    text: typeof written === 'string' ? `"${written}"` : JSON.stringify(written),
    source: variable !== undefined ? 'environment' : line !== undefined ? 'file' : 'default',
    from: variable ?? (line === undefined ? 'default' : `line ${line}`),
  }
}

/** `https://user:word@host`, `--token=word`, `Authorization: Bearer word`. */
function hidden(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'forever'
  if (typeof value === 'string') {
    return value
      .replace(/:\/\/[^/@\s]+@/g, '://…@')
      .replace(/((?:password|passphrase|secret|token|key)[=:]\s*)\S+/gi, '$1…')
      .replace(/(Bearer\s+)\S+/gi, '$1…')
  }
  if (Array.isArray(value)) return value.map(hidden)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one)]))
}
