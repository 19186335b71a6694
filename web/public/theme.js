// Runs before the first paint, so that a chosen theme or language never flashes the other one.
(function () {
  try {
    var theme = localStorage.getItem("kunline.theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
    var language = localStorage.getItem("kunline.language") || navigator.language;
    document.documentElement.lang = /^zh/i.test(language) ? "zh-CN" : "en";
  } catch (_) {
    // Storage may be switched off; the system's theme and English are used then.
  }
})();
