/**
 * Every command by what it does to what is there; `confirm.test.ts` fails for one that is not in it.
 *
 * - `reads`: changes nothing.
 * - `adds`: makes something new, or a version of it; nothing that was there goes.
 * - `turns`: can be turned back by a command beside it.
 * - `runs`: is the appliance, or does what it does by itself.
 * - `guides`: asks for what it needs, in a way of its own (src/cli/setup.ts).
 * - `mild`, `moderate`, `severe`: asks first, see src/cli/confirm.ts.
 */
export type Class = 'reads' | 'adds' | 'turns' | 'runs' | 'guides' | 'mild' | 'moderate' | 'severe'

export const classes: Readonly<Record<Class, readonly string[]>> = {
  reads: [
    ...[
      'config check',
      'config show',
      'plan list',
      'stats',
      'dmarc',
      'retention',
      'doctor',
      'status',
      'top',
    ],
    ...['account list', 'account show', 'account billing', 'account protection', 'account audit'],
    ...['key list', 'domain list', 'domain show', 'template list', 'template show'],
    ...['template versions', 'template render', 'contact export', 'contact history', 'topic list'],
    ...['broadcast list', 'broadcast show', 'automation list', 'automation show'],
    ...['automation runs', 'automation why', 'automation walk', 'suppression list'],
    ...['suppression export', 'email list', 'email show', 'webhook list', 'webhook show'],
    ...[
      'webhook deliveries',
      'queue summary',
      'user list',
      'queue list',
      'queue held',
      'queue show',
    ],
    ...['queue transcript', 'postmaster list', 'postmaster show', 'submission sessions'],
    ...['submission show', 'shaping show', 'bounce explain', 'bounce parked', 'job list'],
    ...['job show', 'notice list', 'notice show', 'notice kinds', 'notice mails'],
    ...[
      'certificate list',
      'certificate show',
      'failover status',
      'backup verify',
      'backup list',
      'version',
      'completions',
      'man-page',
    ],
  ],
  adds: [
    ...['init', 'account create', 'key create', 'domain add', 'domain verify', 'template put'],
    ...['contact add', 'topic add', 'webhook add', 'suppression add', 'backup'],
    ...['user add', 'user invite', 'user first', 'user reset'],
  ],
  turns: [
    ...['account set-plan', 'account set-marketing-plan', 'account set-billing-state'],
    ...['user role', 'user disable', 'user enable', 'user operator'],
    ...['account unsuspend', 'account unpause', 'account tracking', 'account rename'],
    ...['domain tracking', 'account language'],
    ...['broadcast pause', 'broadcast resume', 'automation enable', 'automation disable'],
    // What waits for a webhook that is disabled is set aside for a replay.
    ...['automation pause', 'webhook enable', 'webhook disable', 'notice silence'],
    ...['failover force', 'failover forbid', 'failover auto'],
  ],
  runs: [
    ...[
      'serve',
      'quickstart',
      'sandbox',
      'job run',
      'certificate renew',
      'notice test',
      'webhook test',
      'webhook replay',
    ],
    // Nothing of what is stored is lost by it.
    ...['queue retry', 'bounce retry', 'database vacuum'],
  ],
  guides: ['setup'],
  mild: [
    ...['account suspend', 'account pause', 'account logo', 'suppression remove'],
    ...['suppression import', 'webhook rotate', 'queue hold', 'queue release'],
    'automation resume',
  ],
  moderate: [
    ...['key delete', 'template delete', 'webhook delete', 'postmaster delete', 'bounce discard'],
    ...['queue fail', 'broadcast send', 'broadcast cancel', 'automation archive'],
    ...['automation move', 'automation start', 'restore', 'upgrade'],
  ],
  severe: ['domain delete', 'contact delete'],
}
