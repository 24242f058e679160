// Lets a rule of textlint for paragraphs read wrapped lines as one, and cells of tables as well. The rule for the length of
// sentences would otherwise take the end of a line for the end of a sentence.

export default function unwrapped(rule) {
  return (context, options) => {
    const { Syntax } = context;
    const visit = rule(context, options)[Syntax.Paragraph];
    const joined = node => visit(join(node));
    return { [Syntax.Paragraph]: joined, [Syntax.TableCell]: joined };
  };
}

function join(node) {
  const joined = { ...node };
  if (node.children) joined.children = node.children.map(join);
  if (typeof node.value === 'string') joined.value = node.value.replaceAll('\n', ' ');
  return joined;
}
