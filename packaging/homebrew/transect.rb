class Transect < Formula
  desc "Walks directory trees as fast as the kernel allows, and counts what is there"
  homepage "@URL@"
  url "@DOWNLOAD@/transect-@VERSION@-source.tar.gz"
  sha256 "@SHA256 transect-@VERSION@-source.tar.gz@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/transect-cli")
    system "cargo", "install", *std_cargo_args(path: "crates/transect-lab")
    %w[transect transect-lab].each do |program|
      generate_completions_from_executable(bin/program, "completions")
      system bin/program, "man", "--output", man1
    end
  end

  test do
    (testpath/"tree/file").write "content"
    assert_match '"files":1', shell_output("#{bin}/transect scan --json #{testpath}/tree")
  end
end
