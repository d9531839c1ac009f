# The formula for a tap of Homebrew. It installs the wheel and what the wheel needs into a virtual environment.
class Descheduler < Formula
  desc "Kubernetes descheduler that plans first"
  homepage "$home"
  url "$downloads/$wheel", using: :nounzip
  version "$version"
  sha256 "$wheel_sha256"
  license "Apache-2.0"

  depends_on "python@3.12"

  def install
    system Formula["python@3.12"].opt_bin/"python3.12", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "--only-binary=:all:", buildpath/"$wheel"
    bin.install_symlink libexec/"bin/descheduler", libexec/"bin/kubectl-deschedule"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/descheduler version")
  end
end
