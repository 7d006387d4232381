import type { Clock } from '../clock/index.js'
import type { ApplianceKey, Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { Read } from '../store/index.js'

/** One line of the doctor's report. */
export interface Finding {
  /** The check's name: `outbound-port`, `ptr`, `dkim`, ... */
  check: string
  /** What the check was made for: an address, a domain, a host. */
  subject: string
  /** `unchecked`: no answer came, so that nothing was found, good or bad. */
  state: 'ok' | 'warn' | 'fail' | 'unchecked'
  found: string
  /** What to do about it: the exact record or command. Empty when all is well. */
  fix: string
  /** The check could not be made because the DNS gave no answer. */
  lacksDns?: true
}

/** Begins the text of a finding that could not be made because the DNS gave no answer. */
export const noAnswerOfDns = 'no answer of the DNS'

/** The findings of one subject; `found` first, then the fix. */
export function findingsOf(check: string, subject: string) {
  const make =
    (state: Finding['state']) =>
    (found: string, fix = ''): Finding => ({ check, subject, state, found, fix })
  const lackingDns = (found: string): Finding => ({
    ...make('unchecked')(found, 'try again'),
    lacksDns: true,
  })
  return {
    ok: make('ok'),
    warn: make('warn'),
    fail: make('fail'),
    unchecked: make('unchecked'),
    /** For a check that needs an answer of the DNS and got none. */
    noAnswer: (cause: string) => lackingDns(`${noAnswerOfDns} (${cause})`),
    /** The same, after other words. */
    lackingDns: (found: string) => lackingDns(`${found}: ${noAnswerOfDns}`),
  }
}

export interface DoctorDeps {
  config: Config
  dataDir: string
  read: Read
  clock: Clock
  resolver: Resolver
  key: ApplianceKey
  /** In [0, 1); for the shuffle of equal MXs. */
  random: () => number
  /** Tests: authorities (PEM) instead of the usual ones. */
  ca?: string
}
