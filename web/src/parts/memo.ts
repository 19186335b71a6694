// A component that is drawn again only when one of its properties is another one.

import { Component, type ComponentType, h } from "preact";

export function memo<Props extends object>(inner: ComponentType<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      return Object.entries(next).some(([name, value]) => (this.props as Record<string, unknown>)[name] !== value);
    }
    override render(props: Props) {
      return h(inner, props);
    }
  };
}
