import { render } from "preact";
import { App } from "./app";
import { language, speak } from "./words";
import "./style/base.css";
import "./style/parts.css";
import "./style/shell.css";

const place = document.getElementById("app");
if (place) {
  await speak(language.get());
  render(<App />, place);
}
