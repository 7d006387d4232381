import type { Command } from 'commander'
import { addContact, type Contact, toE164 } from '../contacts/index.js'
import { OperatorError } from '../errors/index.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { jsonTime, say, sayJson } from './output.js'
import { placeOf, settingsOf } from './place.js'

interface Options {
  account?: string
  firstName?: string
  lastName?: string
  phone?: string
}

export function contactCommands(program: Command): void {
  const contact = program.command('contact').description('people that an account knows')

  contact
    .command('add <email>')
    .description('add a contact; one who is there gets the fields that are given')
    .addOption(accountOption())
    .option('--first-name <name>', 'first name')
    .option('--last-name <name>', 'last name')
    .option('--phone <number>', 'phone number, by which USSD finds the contact')
    .addHelpText(
      'after',
      '\nExample:\n  $ posthorn contact add ada@example.com --phone 08031234567',
    )
    .action(async (email: string, options: Options, command: Command) => {
      const place = placeOf(command)
      const { firstName, lastName } = options
      const phone = phoneOf(options.phone, settingsOf(place).contacts.defaultCountry)
      const { contact, added } = await withStore(place, async (deps) => {
        const { id } = await chosenAccount(deps.store.read, options.account)
        return addContact(deps, id, { email, firstName, lastName, phone })
      })
      if (place.json) return sayJson({ ...shown(contact), added })
      say(`${contact.email} is ${added ? 'added' : 'updated'}: ${contact.id}`)
    })
}

function phoneOf(given: string | undefined, country: string): string | undefined {
  if (given === undefined) return undefined
  const phone = toE164(given, country)
  if (phone !== undefined) return phone
  throw new OperatorError(`"${given}" is no phone number, of ${country} or with + and country code`)
}

const shown = (contact: Contact) => ({
  ...contact,
  unsubscribedAt: jsonTime(contact.unsubscribedAt),
  createdAt: jsonTime(contact.createdAt),
})
