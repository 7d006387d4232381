import { type FieldKind, ruleTree } from '../../rules/index.js'
import { audiencePathFault, segmentFieldKind } from '../../segments/index.js'
import { contactFields, mailFields } from './field.js'

// Limits of a rule tree: how deep it is nested, how many parts it has, how long a field's path is.
// They bound what one event costs.
const maxDepth = 10
const maxParts = 100
const maxPath = 256

/** What the form of a path is expected to be; undefined if it is so. */
export function pathFault(path: string): string | undefined {
  const [root, key, ...rest] = path.split('.')
  if (path.length > maxPath) return `Expected a field of at most ${maxPath} characters`
  if (path.split('.').some((part) => part === '')) return 'Expected a field without an empty part'
  switch (root) {
    case 'contact':
      if (key === 'metadata' && rest.length > 0) return undefined
      if (rest.length === 0 && contactFields.some((field) => field === key)) return undefined
      return `Expected one of contact.${contactFields.join(', contact.')}, contact.metadata.…`
    case 'segment':
    case 'broadcast':
      return audiencePathFault(path)
    case 'trigger':
    case 'event':
      return key === undefined ? `Expected a field of the ${root}: ${root}.NAME` : undefined
    case 'waits':
      return rest.length > 0 ? undefined : 'Expected a field of the form waits.KEY.NAME'
    case 'email':
      if (rest.length === 1 && mailFields.some((field) => field === rest[0])) return undefined
      return `Expected one of email.KEY.${mailFields.join(', email.KEY.')}`
  }
  return 'Expected a field that begins with contact., segment., broadcast., trigger., event., waits. or email.'
}

const ownOfRuns = ['trigger', 'event', 'waits']

/** What a field of an automation's rule holds; what events and contacts say of their own may be anything. */
export function ruleFieldKind(path: string): FieldKind | undefined {
  const [root = ''] = path.split('.')
  if (root === 'email') return 'truth'
  return ownOfRuns.includes(root) ? undefined : segmentFieldKind(path)
}

/** A rule of an automation. */
export const RuleTree = ruleTree({
  depth: maxDepth,
  parts: maxParts,
  pathFault,
  kindOf: ruleFieldKind,
})
