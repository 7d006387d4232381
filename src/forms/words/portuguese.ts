import type { FormWords } from './words.js'

export const portuguese: FormWords = {
  language: 'pt',
  email: 'Endereço de e-mail',
  firstName: 'Nome',
  lastName: 'Apelido',
  topics: 'O que deseja receber?',
  choose: 'Escolha',
  optional: 'opcional',
  submit: 'Subscrever',
  missing: 'Preencha este campo.',
  noChoice: 'Escolha uma destas opções:',
  noNumber: 'Isto não é um número, como 12.',
  noDate: 'Isto não é uma data, como 2026-12-24.',
  noAddress: 'Escreva um endereço de e-mail, como ada@example.com.',
  tooLong: 'É demasiado longo.',
  consent: 'Quero receber a newsletter. Posso cancelar a subscrição a qualquer momento.',
  agree: 'Marque esta caixa para subscrever.',
  working: 'Um momento: o seu navegador está a verificar o formulário…',
  noScript:
    'Sem JavaScript este formulário só aceita poucas pessoas por hora de momento. Permita-o para esta página, se puder.',
  check: {
    title: 'Carregue no botão',
    line: 'Mostra que uma pessoa enviou este formulário.',
    again: 'Foi mais rápido do que uma pessoa. Carregue mais uma vez.',
    button: 'Sim, subscrever',
  },
  sent: {
    title: 'Mais um clique: veja o seu e-mail',
    lines: [
      'Se estiver tudo em ordem, chega um e-mail com uma ligação, quase sempre em poucos minutos. Só com ela fica subscrito.',
      'Não chegou nada? Veja na pasta de spam. Se amanhã também não houver nada, preencha de novo o formulário.',
    ],
  },
  confirm: {
    title: () => 'Mais um clique',
    line: (account) => `Carregue no botão para receber os e-mails de ${account}.`,
    button: 'Confirmar',
  },
  confirmed: {
    title: 'Está subscrito',
    line: (account) => `Obrigado. A partir de agora recebe os e-mails de ${account}.`,
  },
  lapsed: {
    title: 'De momento não recebe e-mails',
    line: (account) =>
      `Este endereço está confirmado, mas já sem efeito: entretanto cancelou a subscrição de ${account}, ou aquilo que subscreveu já não existe.`,
    again: 'Preencher de novo o formulário',
  },
  later: {
    title: 'Tente mais tarde',
    line: 'Não foi possível agora. A ligação continua válida; carregue de novo no botão mais tarde.',
  },
  gone: {
    title: 'Esta ligação já não funciona',
    lines: [
      'Foi cortada ou tem mais de sete dias.',
      'Preencha de novo o formulário se deseja receber os e-mails.',
    ],
  },
  closed: {
    title: 'Este formulário não aceita ninguém de momento',
    lines: [
      'O que se preenche aqui não é guardado de momento, e não é enviado nenhum e-mail.',
      'Volte mais tarde e preencha-o então. Uma ligação que já recebeu por e-mail continua válida.',
    ],
  },
  noForm: {
    title: 'Esse formulário não existe aqui',
    lines: [
      'O endereço está incompleto ou o formulário foi retirado.',
      'Peça o endereço certo a quem lho deu.',
    ],
  },
  mail: {
    subject: (account) => `Confirme: e-mails de ${account}`,
    reminder: (account) => `Falta confirmar: e-mails de ${account}`,
    line: (account) =>
      `Alguém, esperamos que tenha sido você, subscreveu os e-mails de ${account} com este endereço. Confirme que foi você:`,
    button: 'Confirmar',
    ignore: 'Não foi você? Não faça nada: não recebe e-mails.',
  },
}
