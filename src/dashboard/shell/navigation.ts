import type { Action } from './people.js'

/** One place. `action` is what somebody must be allowed to do to see its link. */
export interface NavigationEntry {
  label: string
  path: string
  action: Action
  /** Pages beside it that have no link of their own here. */
  also?: readonly string[]
}

/** A few entries under one heading. */
export interface NavigationGroup {
  label: string
  entries: readonly NavigationEntry[]
}

/** Paths below `/a/:account`. Places that have no page are left out. */
export const accountPlaces: readonly NavigationGroup[] = [
  {
    label: 'Mail',
    entries: [
      { label: 'Overview', path: '', action: 'account.read' },
      { label: 'Emails', path: '/emails', action: 'emails.read' },
    ],
  },
  {
    label: 'Marketing',
    entries: [
      { label: 'Campaigns', path: '/campaigns', action: 'campaigns.read' },
      { label: 'Automations', path: '/automations', action: 'automations.read' },
      { label: 'Templates', path: '/templates', action: 'templates.read' },
      { label: 'Pictures', path: '/pictures', action: 'campaigns.read' },
    ],
  },
  {
    label: 'Audience',
    entries: [
      { label: 'Contacts', path: '/contacts', action: 'contacts.read' },
      { label: 'Lists', path: '/lists', action: 'contacts.read' },
      { label: 'Segments', path: '/segments', action: 'contacts.read' },
      { label: 'Fields', path: '/fields', action: 'contacts.read' },
      { label: 'Forms', path: '/forms', action: 'contacts.read' },
      { label: 'Topics', path: '/topics', action: 'contacts.read' },
      { label: 'Suppression', path: '/suppression', action: 'suppression.read' },
    ],
  },
  {
    label: 'Connect',
    entries: [
      { label: 'Domains', path: '/domains', action: 'domains.read' },
      { label: 'API keys', path: '/keys', action: 'keys.read', also: ['/surges'] },
      {
        label: 'Received mail',
        path: '/received',
        action: 'emails.read',
        also: ['/receiving'],
      },
      { label: 'Test inbox', path: '/inbox', action: 'emails.read' },
      { label: 'Webhooks', path: '/webhooks', action: 'webhooks.read' },
      { label: 'Events', path: '/events', action: 'automations.read' },
    ],
  },
  {
    label: 'Account',
    entries: [
      { label: 'Team', path: '/team', action: 'team.read' },
      { label: 'Plan and usage', path: '/plan', action: 'plan.read' },
      { label: 'Audit log', path: '/audit', action: 'audit.read' },
      { label: 'Brand', path: '/brand', action: 'settings.read' },
      { label: 'Settings', path: '/settings', action: 'settings.read' },
    ],
  },
]

/** Paths below `/operator`. */
export const operatorPlaces: readonly NavigationGroup[] = [
  {
    label: 'Appliance',
    entries: [
      { label: 'Overview', path: '', action: 'operator.read' },
      { label: 'Doctor', path: '/doctor', action: 'operator.read' },
      { label: 'Jobs', path: '/jobs', action: 'operator.read' },
      { label: 'Nodes', path: '/nodes', action: 'operator.read' },
      { label: 'Backups', path: '/backups', action: 'operator.read' },
      { label: 'Settings', path: '/settings', action: 'operator.read' },
    ],
  },
  {
    label: 'Mail',
    entries: [
      { label: 'Queue', path: '/queue', action: 'operator.read' },
      { label: 'Held', path: '/held', action: 'operator.read' },
      { label: 'Sites', path: '/sites', action: 'operator.read' },
      { label: 'Failover', path: '/failover', action: 'operator.read' },
      { label: 'Inbound mail', path: '/inbound', action: 'operator.read', also: ['/parked'] },
    ],
  },
  {
    label: 'People',
    entries: [
      { label: 'Accounts', path: '/accounts', action: 'operator.read' },
      { label: 'Users', path: '/users', action: 'operator.read' },
      { label: 'Audit log', path: '/audit', action: 'operator.read' },
    ],
  },
]

/** A group for a view, with the links that this visitor may follow. */
export interface NavigationView {
  label: string
  links: { label: string; href: string; here: boolean }[]
}

/** The places that somebody may see. The one of `path` is marked: the longest that `path` begins with. */
export function navigation(
  groups: readonly NavigationGroup[],
  base: string,
  path: string,
  isShown: (entry: NavigationEntry) => boolean,
): NavigationView[] {
  const shown = groups.map(({ label, entries }) => ({ label, entries: entries.filter(isShown) }))
  // Only whole parts of a path count: `/keys` is not the place of `/keysmith`.
  const begins = (href: string) => path === href || path.startsWith(`${href}/`)
  const [here] = shown
    .flatMap(({ entries }) => entries)
    .flatMap((entry) => [entry.path, ...(entry.also ?? [])].map((at) => ({ entry, at: base + at })))
    .filter(({ at }) => begins(at))
    // The longest wins, because all others begin with the overview's path.
    .sort((a, b) => b.at.length - a.at.length)
  return shown
    .filter(({ entries }) => entries.length > 0)
    .map(({ label, entries }) => ({
      label,
      links: entries.map((entry) => {
        return { label: entry.label, href: base + entry.path, here: entry === here?.entry }
      }),
    }))
}
