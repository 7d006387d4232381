import type { Shell } from '../shell/page.js'
import { keptPages } from './kept.js'
import { linkPages } from './links.js'
import { logInPages } from './login.js'
import { passkeyPages } from './passkeys.js'
import { profilePages } from './profile.js'
import { providerPages } from './provider.js'
import { sudoPages } from './sudo.js'
import { totpPages } from './totp.js'
import type { EntryDeps } from './way-in.js'

/** How people come in, and what they say about themselves. */
export function entryPages(shell: Pick<Shell, 'open' | 'person'>, deps: EntryDeps): void {
  logInPages(shell.open, deps)
  linkPages(shell.open, deps)
  keptPages(shell, deps)
  sudoPages(shell.person, deps)
  profilePages(shell.person, deps)
  totpPages(shell.person, deps)
  passkeyPages(shell, deps)
  if (deps.provider !== undefined) providerPages(shell, deps, deps.provider)
}
